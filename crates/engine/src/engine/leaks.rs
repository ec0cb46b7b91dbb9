//! Leaks of a recording and of a family, and what refers to native memory.

use std::sync::PoisonError;

use super::{Engine, RecordingId};
use crate::api_error::ApiError;
use crate::heap::answer::{self, Recordings as _};
use crate::heap::{OfSnapshot, Outcome};
use crate::leaks::family::Member;
use crate::leaks::{self, FamilyLeaksResponse, LeaksResponse};
use crate::query::{FamilyLeaks, HeapLeaks};
use crate::references::{self, ReferrersResponse};

impl Engine {
    /// Which call sites allocate ever more than is freed: of programs that free their memory themselves, and of
    /// others' calls of `malloc` where they are recorded. `None` of other recordings. With
    /// [references](Self::set_references) the blocks that are unreachable, too. `limit` is the maximum number of
    /// suspects, and of call sites of unreachable blocks.
    ///
    /// # Errors
    /// If there is no such recording.
    pub fn site_leaks(
        &self,
        id: RecordingId,
        limit: usize,
    ) -> Result<Option<LeaksResponse>, ApiError> {
        self.look(id.0, |recording| {
            let known = &recording.description;
            (known.is_native || known.has_malloc).then(|| {
                let mut response = leaks::sites::leaks(recording, limit);
                match &recording.references {
                    // With a snapshot of OCaml's heap they are judged together.
                    Some(Ok(_)) if !known.is_native => {}
                    Some(Ok(found)) => {
                        let unreachable = references::unreachable(recording, found, limit);
                        response.unreachable = Some(unreachable);
                        references::add_retainers(recording, found, &mut response.suspects);
                    }
                    Some(Err(reason)) => {
                        response.unexamined = Some(references::not_known(reason));
                    }
                    None => {}
                }
                response.conclude(limit);
                response
            })
        })
    }

    /// Which owners and call sites grow in any process of a family.
    ///
    /// # Errors
    /// If the recording is not of several processes together.
    pub fn family_leaks(
        &self,
        query: &FamilyLeaks,
    ) -> Result<Outcome<FamilyLeaksResponse>, ApiError> {
        let members = self.look(query.rec, |recording| recording.description.members.clone())?;
        if members.is_empty() {
            return Err(ApiError::bad("the recording is of one process alone"));
        }
        let mut found = Vec::new();
        for rec in members {
            let leaks = match self.leaks_of_member(rec) {
                Ok(None) => continue,
                Ok(Some(Outcome::Ready(OfSnapshot { response, .. }))) => Ok(response),
                Ok(Some(Outcome::Analysing(number))) => {
                    self.notify();
                    return Ok(Outcome::Analysing(number));
                }
                // The others are shown all the same.
                Err(error) => Err(error.to_string()),
            };
            let name = self.look(rec, |recording| recording.description.name.clone())?;
            found.push(Member { rec, name, leaks });
        }
        Ok(Outcome::ready(leaks::family::ranked(found, query.limit)))
    }

    /// What leaks in a process; nothing if there is nothing to look at.
    fn leaks_of_member(&self, rec: u32) -> Result<Option<Outcome<LeaksResponse>>, ApiError> {
        let snapshots = self.snapshots(rec)?;
        let of_sites = self.site_leaks(RecordingId(rec), usize::MAX)?;
        let Some(number) = snapshots.last() else {
            return match of_sites {
                _ if snapshots.len() > 0 => {
                    Err(ApiError::bad("its heap snapshots are not in this file"))
                }
                leaks => Ok(leaks.map(Outcome::ready)),
            };
        };
        let known = || self.of_members.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&(rec, number)).cloned();
        let of_owners = if let Some(found) = found {
            found
        } else {
            if let Some(missing) = snapshots.want_summaries() {
                return Ok(Some(Outcome::Analysing(missing)));
            }
            let query = HeapLeaks { rec, snapshot: Some(number), limit: usize::MAX };
            let OfSnapshot { response, .. } = match answer::leaks(self, &query)? {
                Outcome::Ready(ready) => ready,
                analysing @ Outcome::Analysing(_) => return Ok(Some(analysing)),
            };
            known().insert((rec, number), response.clone());
            // Families have many. The one before the exit was opened if the exit freed most.
            let earlier = snapshots.list().into_iter().map(|known| known.facts.number);
            let before = earlier.filter(|earlier| *earlier < number).max();
            let judged = before.filter(|_| response.teardown.is_some()).unwrap_or(number);
            snapshots.close(judged);
            response
        };
        let leaks = leaks::with_sites(of_owners, of_sites, usize::MAX);
        Ok(Some(Outcome::ready(leaks)))
    }

    /// What refers to the blocks that a function of a native program allocated; `limit` paths at most.
    ///
    /// # Errors
    /// If there is no such recording, it has no references, or the function allocated nothing that was alive.
    pub fn referrers(
        &self,
        id: RecordingId,
        name: &str,
        limit: usize,
    ) -> Result<ReferrersResponse, ApiError> {
        self.look(id.0, |recording| match &recording.references {
            Some(Ok(found)) => references::referrers(recording, found, name, limit, None),
            Some(Err(reason)) => Err(ApiError::bad(reason)),
            None => Err(ApiError::bad("the recording has no references")),
        })?
    }

    /// The same of memory from `malloc` of an OCaml program, with what the heap snapshot has of values that refer to it.
    ///
    /// # Errors
    /// As [`answer`](Self::answer), and as [`referrers`](Self::referrers).
    pub fn heap_referrers(
        &self,
        (id, snapshot): (RecordingId, u64),
        name: &str,
        limit: usize,
    ) -> Result<Outcome<ReferrersResponse>, ApiError> {
        let outcome = answer::referrers(self, (id.0, snapshot), name, limit);
        self.notify();
        outcome
    }
}
