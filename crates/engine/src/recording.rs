//! A recording that has been read, as far as it is there.

use std::sync::{Arc, OnceLock};

use memtrail_profile::calls::{Entities, Recursion};
use memtrail_profile::growing::GrowingProfile;
use memtrail_profile::{Caveats, Profile, ProfileBuilder};
use memtrail_references::References;
use memtrail_trace::{Anomalies, Error, Naming, SampleRate, Timestamp, TraceInfo};

use crate::api_error::ApiError;
use crate::describe::{Description, State};
use crate::heap::snapshot_store::SnapshotStore;
use crate::selection::{FilterSelection, Selections};

/// A recording that has been read, as far as it is there.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(crate) description: Description,
    source: Source,
    pub(crate) entities: Entities,
    /// Bytes of the trace.
    pub(crate) bytes: u64,
    selections: Selections,
    whole: OnceLock<Whole>,
    pub(crate) snapshots: Arc<SnapshotStore>,
    /// Of a program that was looked at for references to its blocks from `malloc`: these, or why there are none.
    pub(crate) references: Option<Result<References, String>>,
    /// The number of the snapshot that they are of.
    pub(crate) snapshot_of_references: Option<u64>,
}

#[derive(Debug)]
enum Source {
    Whole(Box<Profile>),
    Growing {
        profile: Box<GrowingProfile>,
        /// Names of functions that are not in the trace.
        naming: Option<Arc<dyn Naming>>,
        /// Stands for the profile until the trace has said what it is.
        nothing: Box<Profile>,
    },
}

/// What is in the whole recording, whatever is filtered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub(crate) events: u64,
    pub(crate) sums: crate::sums::Sums,
}

impl Recording {
    pub(crate) fn read(
        trace: &[u8],
        description: Description,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, Error> {
        let threads = description.threads.clone().map(Into::into);
        let rates = description.rates.clone().map(Into::into);
        let profile = Profile::read_with(trace, threads, rates, progress)?;
        Ok(Self::new(Source::Whole(Box::new(profile)), description, trace.len() as u64))
    }

    pub(crate) fn growing(description: Description, naming: Option<Arc<dyn Naming>>) -> Self {
        let profile = Box::new(GrowingProfile::new(naming.clone()));
        let source = Source::Growing { profile, naming, nothing: Box::new(nothing()) };
        let mut recording = Self::new(source, Description::default(), 0);
        recording.describe(description);
        recording
    }

    /// Heap snapshots alone.
    pub(crate) fn without_trace(description: Description) -> Self {
        let description = Description { no_trace: true, ..description };
        Self::new(Source::Whole(Box::new(nothing())), description, 0)
    }

    /// Why no snapshot can be taken now; nothing if one can.
    pub(crate) fn why_no_snapshot(&self) -> Option<String> {
        if self.description.state != State::Growing || self.description.no_trace {
            return Some("the program does not run any more".to_owned());
        }
        if !self.description.can_snapshot {
            let why = if self.description.is_native {
                "the program is native: memtrail leaks reads its snapshots"
            } else {
                "the program was started with --snapshot off"
            };
            return Some(why.to_owned());
        }
        None
    }

    pub(crate) fn describe(&mut self, description: Description) {
        if let (Source::Growing { profile, .. }, Some(threads)) =
            (&mut self.source, &description.threads)
        {
            profile.threads(threads.clone().into());
        }
        if let (Source::Growing { profile, .. }, Some(rates)) =
            (&mut self.source, &description.rates)
        {
            profile.rates(rates.clone().into());
        }
        self.description = description;
    }

    fn new(source: Source, description: Description, bytes: u64) -> Self {
        let entities = Entities::new(source.profile());
        let (selections, whole, snapshots) =
            (Selections::default(), OnceLock::new(), Arc::default());
        Self {
            description,
            source,
            entities,
            bytes,
            selections,
            whole,
            snapshots,
            references: None,
            snapshot_of_references: None,
        }
    }

    /// The references that are of a snapshot.
    pub(crate) fn references_of(&self, snapshot: u64) -> Option<&References> {
        let found = self.references.as_ref()?.as_ref().ok()?;
        (self.snapshot_of_references == Some(snapshot)).then_some(found)
    }

    pub(crate) fn profile(&self) -> &Profile {
        self.source.profile()
    }

    /// Path of the executable.
    pub(crate) fn program(&self) -> &str {
        self.description.program.as_deref().unwrap_or(&self.profile().info.executable)
    }

    /// Another one that grows, of the same process. Nothing of it is there yet.
    pub(crate) fn anew(&self) -> Self {
        let naming = match &self.source {
            Source::Whole(_) => None,
            Source::Growing { naming, .. } => naming.clone(),
        };
        Self::growing(self.description.clone(), naming)
    }

    /// What must be known of its figures.
    pub(crate) fn caveats(&self) -> Caveats {
        self.profile().caveats(&self.description.caveats)
    }

    /// Byte of the file from which on it is to be read the next time.
    pub(crate) fn offset(&self) -> u64 {
        match &self.source {
            Source::Whole(_) => self.bytes,
            Source::Growing { profile, .. } => profile.offset(),
        }
    }

    /// Takes in what has come; whether there is any.
    pub(crate) fn grow(&mut self, tail: &[u8]) -> bool {
        let Source::Growing { profile, .. } = &mut self.source else { return false };
        let more = profile.advance(tail);
        if more {
            self.renew();
        }
        more
    }

    /// Takes in the rest.
    pub(crate) fn finish(&mut self, tail: &[u8]) -> Result<(), Error> {
        let Source::Growing { profile, .. } = &mut self.source else { return Ok(()) };
        let size = profile.offset() + tail.len() as u64;
        let finished = profile.finish(tail);
        self.renew();
        self.bytes = size;
        finished
    }

    /// Has the trace of another one in place of its own.
    pub(crate) fn take_trace(&mut self, of: Self) {
        let Self { source, entities, bytes, .. } = of;
        (self.source, self.entities, self.bytes) = (source, entities, bytes);
        (self.selections, self.whole) = (Selections::default(), OnceLock::new());
    }

    /// Becomes another one, with the snapshots that it has.
    pub(crate) fn replace(&mut self, new: Self) {
        let snapshots = Arc::clone(&self.snapshots);
        *self = Self { snapshots, ..new };
    }

    fn renew(&mut self) {
        self.bytes = self.offset();
        let Self { source, entities, selections, whole, .. } = self;
        entities.grow(source.profile());
        *selections = Selections::default();
        *whole = OnceLock::new();
    }

    /// What some conditions keep of it.
    pub(crate) fn choose(&self, conditions: &[String]) -> Result<Arc<FilterSelection>, ApiError> {
        self.choose_with(conditions, Recursion::Folded)
    }

    /// The same, with call paths in which recursion is folded or shown.
    pub(crate) fn choose_with(
        &self,
        conditions: &[String],
        recursion: Recursion,
    ) -> Result<Arc<FilterSelection>, ApiError> {
        self.selections.get(self.profile(), &self.entities, conditions, recursion)
    }

    pub(crate) fn whole(&self) -> Result<Whole, ApiError> {
        if let Some(whole) = self.whole.get() {
            return Ok(*whole);
        }
        let everything = self.choose(&[])?;
        let blocks = &self.profile().blocks;
        let promoted = blocks.rows().filter(|&row| blocks.promoted(row).is_some()).count();
        let events = blocks.len() + blocks.by_collection().len() + promoted;
        let sums = crate::sums::Sums::new(self.profile(), &everything);
        Ok(*self.whole.get_or_init(|| Whole { events: events as u64, sums }))
    }
}

impl Source {
    fn profile(&self) -> &Profile {
        match self {
            Self::Whole(profile) => profile,
            Self::Growing { profile, nothing, .. } => profile.profile().unwrap_or(nothing),
        }
    }
}

/// A recording of which nothing is there yet.
fn nothing() -> Profile {
    let info = TraceInfo {
        sample_rate: SampleRate(1.0),
        word_bits: 64,
        executable: String::new(),
        host: String::new(),
        runtime_params: String::new(),
        pid: 0,
        start: Timestamp(0),
        context: None,
    };
    let builder = ProfileBuilder::new(info.start);
    Profile::new(info, builder, Default::default(), Anomalies::default())
}
