//! Runs the helper for all units at once: types as terms, and what the slots of units' blocks hold.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::{io, iter};

use super::run::{Request, run_once};
use crate::read::{HelperMessage, helper_output, helper_table};
use crate::term::{Content, TypeTable};

/// A unit that ends the helper is left out, and the helper started again, so many times.
const MAX_RUNS: usize = 10;

/// The types, and for each unit that has files what its slots hold. What functions capture is left out where the helper
/// cannot find it.
pub(crate) fn terms(
    helper: &Path,
    mut requests: Vec<Request>,
) -> io::Result<(TypeTable, HashMap<String, Vec<Content>>)> {
    for mode in iter::once("closures").chain(iter::repeat_n("terms", MAX_RUNS)) {
        if requests.is_empty() {
            break;
        }
        let (output, ended_well) = run_once(helper, Some(mode), &requests)?;
        let (messages, error) = helper_output(&output);
        if ended_well && error.is_none() {
            let Ok(table) = helper_table(&output) else { break };
            let contents = messages.into_iter().filter_map(|message| match message {
                HelperMessage::Contents { unit, contents } => Some((unit, contents)),
                _ => None,
            });
            return Ok((table, contents.collect()));
        }
        if mode == "closures" {
            continue;
        }
        // It ended within the last unit that it began.
        let begun: HashSet<&str> = messages
            .iter()
            .rev()
            .find_map(|message| match message {
                HelperMessage::Begun(unit) => Some(unit.as_str()),
                _ => None,
            })
            .into_iter()
            .collect();
        let before = requests.len();
        requests.retain(|request| !begun.contains(request.unit.as_str()));
        if requests.len() == before {
            break;
        }
    }
    Ok((TypeTable::default(), HashMap::new()))
}
