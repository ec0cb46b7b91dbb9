//! Reads the text form of conditions.
//!
//! ```text
//! condition   := ["-"] key ":" value {"," value}
//! range  := value | value ".." value | value ".." | ".." value
//! time   := "start" | "peak" | "end" | number "%" | duration
//! name   := ["~"] word | "/" regular expression "/"
//! word   := characters other than commas | '"' characters, \" and \\ '"'
//! ```
//!
//! A slash in a regular expression is written `\/`. Sizes, durations and numbers are those of
//! [`memtrail_text`], as in all options; of a percentage, what is finer than a millionth is cut off.

use memtrail_text::{Number, Size, TIMES, Wrong};
use memtrail_trace::{Bytes, DomainId};

use super::condition::{
    Between, Clause, Collected, Condition, Died, FrameName, FrameScope, Heap, Millionths, Moment,
    Name,
};
use super::names::compile;
use crate::time::Elapsed;

/// What is wrong with the text of a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConditionError {
    /// At which byte of the text.
    pub at: usize,
    /// What is wrong, without the place.
    pub message: String,
    /// What could be done about it.
    pub hint: Option<String>,
}

/// The keys that conditions can have, for the hint.
const KEYS: &str = "allocated, live, collected, lifetime, size, heap, died, domain, thread, process, \
                    in, module, file, by, byModule, byFile, hide, collapse";

impl From<Wrong> for ConditionError {
    fn from(Wrong { at, message, hint }: Wrong) -> Self {
        Self { at, message, hint: hint.map(str::to_owned) }
    }
}

impl std::str::FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let not = text.starts_with('-');
        let start = usize::from(not);
        let hint = || Some(format!("a condition is written key:value; keys are {KEYS}"));
        let Some(colon) = text.find(':') else {
            let message = format!("no colon in {text:?}");
            return Err(ConditionError { at: text.len(), message, hint: hint() });
        };
        let mut values = Cursor { text, at: colon + 1 };
        let frame = |which, what, names| Clause::Frame(which, what, names);
        let clause = match &text[start..colon] {
            "allocated" => Clause::Allocated(values.all(Cursor::moments)?),
            "live" => Clause::Live(values.all(Cursor::moments)?),
            "collected" => Clause::Collected(values.all(Cursor::collected)?),
            "lifetime" => Clause::Lifetime(values.all(Cursor::times)?),
            "size" => Clause::Size(values.all(Cursor::sizes)?),
            "heap" => Clause::Heap(values.all(Cursor::heap)?),
            "died" => Clause::Died(values.all(Cursor::died)?),
            "domain" => Clause::Domain(values.all(Cursor::domain)?),
            "thread" => Clause::Thread(values.all(Cursor::name)?),
            "process" => Clause::Process(values.all(Cursor::name)?),
            "in" => frame(FrameScope::Any, FrameName::Function, values.all(Cursor::name)?),
            "module" => frame(FrameScope::Any, FrameName::Module, values.all(Cursor::name)?),
            "file" => frame(FrameScope::Any, FrameName::File, values.all(Cursor::name)?),
            "by" => frame(FrameScope::Innermost, FrameName::Function, values.all(Cursor::name)?),
            "byModule" => {
                frame(FrameScope::Innermost, FrameName::Module, values.all(Cursor::name)?)
            }
            "byFile" => frame(FrameScope::Innermost, FrameName::File, values.all(Cursor::name)?),
            "hide" if not => {
                let message = "hiding cannot be negated".to_owned();
                return Err(ConditionError {
                    at: 0, message, hint: Some("use hide:…".to_owned())
                });
            }
            "hide" => Clause::Hide(values.all(Cursor::name)?),
            "collapse" if not => {
                let message = "collapsing cannot be negated".to_owned();
                let hint = Some("use collapse:…".to_owned());
                return Err(ConditionError { at: 0, message, hint });
            }
            "collapse" => Clause::Collapse(values.all(Cursor::name)?),
            key => {
                let message = format!("unknown condition {key:?}");
                return Err(ConditionError { at: start, message, hint: hint() });
            }
        };
        Ok(Self { not, clause })
    }
}

/// The rest of a condition's text.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn all<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, ConditionError>,
    ) -> Result<Vec<T>, ConditionError> {
        let mut values = Vec::new();
        loop {
            values.push(one(self)?);
            if self.rest().is_empty() {
                return Ok(values);
            }
            if !self.skip(",") {
                return Err(self.error(format!("unexpected {:?}", self.rest())));
            }
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn error(&self, message: impl Into<String>) -> ConditionError {
        ConditionError { at: self.at, message: message.into(), hint: None }
    }

    fn hinted(&self, message: impl Into<String>, hint: &str) -> ConditionError {
        ConditionError { hint: Some(hint.to_owned()), ..self.error(message) }
    }

    /// All up to the next comma.
    fn until_comma(&self) -> &'a str {
        self.rest().split(',').next().unwrap_or_default()
    }

    fn ends_here(&self) -> bool {
        matches!(self.rest().as_bytes().first(), None | Some(b','))
    }

    fn range<T: Copy>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, ConditionError>,
        backwards: impl Fn(T, T) -> bool,
    ) -> Result<Between<T>, ConditionError> {
        let start = self.at;
        if self.skip("..") {
            return Ok(Between { from: None, to: Some(one(self)?) });
        }
        let from = one(self)?;
        if !self.skip("..") {
            return Ok(Between::only(from));
        }
        if self.ends_here() {
            return Ok(Between { from: Some(from), to: None });
        }
        let to = one(self)?;
        if backwards(from, to) {
            let text = &self.text[start..self.at];
            self.at = start;
            return Err(self.error(format!("the range {text:?} ends before it begins")));
        }
        Ok(Between::both(from, to))
    }

    fn moments(&mut self) -> Result<Between<Moment>, ConditionError> {
        // Others cannot be compared without the recording.
        self.range(Self::moment, |from, to| match (from, to) {
            (Moment::At(from), Moment::At(to)) => from > to,
            (Moment::Part(from), Moment::Part(to)) => from > to,
            _ => false,
        })
    }

    fn times(&mut self) -> Result<Between<Elapsed>, ConditionError> {
        self.range(Self::time, |from, to| from > to)
    }

    fn sizes(&mut self) -> Result<Between<Bytes>, ConditionError> {
        self.range(Self::size, |from, to| from > to)
    }

    fn collected(&mut self) -> Result<Collected, ConditionError> {
        if self.until_comma() == "never" {
            self.skip("never");
            return Ok(Collected::Never);
        }
        Ok(Collected::Within(self.moments()?))
    }

    fn moment(&mut self) -> Result<Moment, ConditionError> {
        for (word, moment) in
            [("start", Moment::Start), ("peak", Moment::Peak), ("end", Moment::End)]
        {
            if self.skip(word) {
                return Ok(moment);
            }
        }
        let start = self.at;
        let (number, end) = Number::read(self.text, start, "a time", TIMES)?;
        self.at = end;
        if self.skip("%") {
            if let Some(part @ 0..=1_000_000) = number.times(10_000) {
                return Ok(Moment::Part(Millionths(part as u32)));
            }
            self.at = start;
            return Err(self.error("more than 100% of the recording"));
        }
        self.at = start;
        Ok(Moment::At(self.time()?))
    }

    fn time(&mut self) -> Result<Elapsed, ConditionError> {
        let (time, end) = memtrail_text::read_duration(self.text, self.at)?;
        self.at = end;
        // Durations end where recordings do.
        Ok(u64::try_from(time.as_micros()).map_or(Elapsed::LAST, Elapsed))
    }

    fn size(&mut self) -> Result<Bytes, ConditionError> {
        let (size, end) = Size::read(self.text, self.at)?;
        self.at = end;
        Ok(Bytes(size.0))
    }

    fn one_of<T: Copy>(&mut self, words: &[(&str, T)]) -> Result<T, ConditionError> {
        let found = self.until_comma();
        let Some(&(word, value)) = words.iter().find(|(word, _)| *word == found) else {
            let known: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
            let hint = format!("one of {}", known.join(", "));
            return Err(self.hinted(format!("unknown value {found:?}"), &hint));
        };
        self.at += word.len();
        Ok(value)
    }

    fn heap(&mut self) -> Result<Heap, ConditionError> {
        self.one_of(&[Heap::Minor, Heap::Major, Heap::External].map(|heap| (heap.name(), heap)))
    }

    fn died(&mut self) -> Result<Died, ConditionError> {
        let heaps = [Heap::Minor, Heap::Major, Heap::External].map(Died::In);
        let [minor, major, external] = heaps;
        self.one_of(&[minor, major, external, Died::Never].map(|died| (died.name(), died)))
    }

    fn domain(&mut self) -> Result<DomainId, ConditionError> {
        let found = self.until_comma();
        match found.parse() {
            Ok(domain) if found.starts_with(|c: char| c.is_ascii_digit()) => {
                self.at += found.len();
                Ok(DomainId(domain))
            }
            _ => Err(self.hinted(format!("{found:?} is not a domain"), "domains are numbers")),
        }
    }

    fn name(&mut self) -> Result<Name, ConditionError> {
        if self.skip("~") {
            return Ok(Name::Contains(self.word()?));
        }
        if !self.rest().starts_with('/') {
            return Ok(Name::Equals(self.word()?));
        }
        let start = self.at;
        self.at += 1;
        let mut pattern = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '/' => {
                    if let Err(why) = compile(&pattern) {
                        self.at = start;
                        return Err(self.error(format!("regular expression: {why}")));
                    }
                    self.at += at + 1;
                    return Ok(Name::Matches(pattern));
                }
                '\\' => match chars.next() {
                    Some((_, '/')) => pattern.push('/'),
                    Some((_, escaped)) => pattern.extend(['\\', escaped]),
                    None => break,
                },
                _ => pattern.push(c),
            }
        }
        self.at = start;
        Err(self.hinted("the regular expression does not end", "it is written /…/"))
    }

    fn word(&mut self) -> Result<String, ConditionError> {
        if !self.rest().starts_with('"') {
            let word = self.until_comma();
            if word.is_empty() {
                return Err(self.hinted("a name is missing", "the empty name is written \"\""));
            }
            self.at += word.len();
            return Ok(word.to_owned());
        }
        let start = self.at;
        self.at += 1;
        let mut word = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(word);
                }
                '\\' => {
                    let Some((_, escaped @ ('"' | '\\'))) = chars.next() else {
                        self.at += at;
                        return Err(self.error("a backslash must precede \\ or \""));
                    };
                    word.push(escaped);
                }
                _ => word.push(c),
            }
        }
        self.at = start;
        Err(self.error("the quoted name does not end"))
    }
}
