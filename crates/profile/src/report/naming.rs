//! Spells out ids: functions, files, places and chains of callers with their names.

use memtrail_trace::{FileId, FunctionId};

use super::amount::{amount, share};
use super::details::Details;
use super::{CallerChain, Frame, Place};
use crate::callers::{self, Caller, Limits, Step};
use crate::estimate::Sum;
use crate::names;
use crate::profile::Profile;
use crate::sites::{Key, Places, Total};

/// Callers of a chain that are kept before some are left out.
const CHAIN: usize = 16;

/// Spells out ids.
pub(super) struct Naming<'a> {
    pub(super) profile: &'a Profile,
    pub(super) places: &'a Places<'a>,
}

impl Naming<'_> {
    pub(super) fn place(
        &self,
        &(place, ref amounts): &(usize, Total),
        detail: Details,
        all: &Total,
    ) -> Place {
        let key = self.places.keys()[place];
        let bytes = |samples| self.profile.estimator.bytes_of(samples);
        let bytes_by_tenth_of_time = detail.by_tenth.map(bytes);
        let callers = callers::callers(
            &self.profile.stacks,
            self.places,
            &self.profile.locations,
            key,
            &detail.by_stack(),
            Limits::default(),
        );
        let samples = amounts.sum.samples;
        let (name, function, file, line) = self.spell(key);
        Place {
            name,
            function,
            file,
            line,
            amount: amount(self.profile, &amounts.sum),
            share: share(samples, all.sum.samples),
            never_collected_share: share(amounts.never_collected, samples),
            mean_age_seconds: amounts.mean_age().seconds(),
            bytes_by_tenth_of_time,
            callers: callers.iter().map(|caller| self.caller(caller, &amounts.sum)).collect(),
        }
    }

    fn spell(&self, key: Key) -> (String, Option<String>, Option<String>, Option<u32>) {
        match key {
            Key::Unknown => ("(no debug information)".into(), None, None, None),
            Key::Site(function, file, line) => {
                let function = self.function(function);
                // A function of native code without debug information has neither.
                let file = Some(self.file(file)).filter(|file| !file.is_empty());
                (names::readable(&function), Some(function), file, Some(line).filter(|&l| l != 0))
            }
            Key::Function(function) => {
                let function = self.function(function);
                (names::readable(&function), Some(function), None, None)
            }
            Key::Module(module) => match self.places.module_name(module) {
                "" => ("(in no module)".into(), None, None, None),
                name => (names::readable(name), None, None, None),
            },
            Key::File(file) => {
                let file = self.file(file);
                (file.clone(), None, Some(file), None)
            }
        }
    }

    fn caller(&self, caller: &Caller, of: &Sum) -> CallerChain {
        let bytes = self.profile.estimator.bytes_of_part(of, caller.samples);
        let (first, rest) = match caller.chain.len() {
            len if len > CHAIN => caller.chain.split_at(CHAIN - 1),
            _ => (caller.chain.as_slice(), [].as_slice()),
        };
        CallerChain {
            share: share(caller.samples, of.samples),
            bytes: bytes.value,
            bytes_stderr: bytes.stderr,
            chain: first.iter().map(|step| self.frame(step)).collect(),
            omitted: rest.len().saturating_sub(1),
            outermost: rest.last().map(|step| self.frame(step)),
            branches: caller.branches.iter().map(|branch| self.caller(branch, of)).collect(),
        }
    }

    fn frame(&self, step: &Step) -> Frame {
        let function = self.function(step.function);
        Frame {
            name: names::readable(&function),
            function,
            file: self.file(step.file),
            line: step.line,
            lines_differ: step.lines_differ,
            recursive: step.recursive,
        }
    }

    fn function(&self, function: FunctionId) -> String {
        String::from_utf8_lossy(self.profile.locations.functions().get(function)).into_owned()
    }

    fn file(&self, file: FileId) -> String {
        String::from_utf8_lossy(self.profile.locations.files().get(file)).into_owned()
    }
}
