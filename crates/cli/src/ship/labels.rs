//! Labels of a recording's profiles and metrics.

use memtrail_recording::Recording;

use super::redact::Redaction;
use crate::recording_facts;

/// The longest value that Pyroscope takes.
const MAX_VALUE: usize = 2048;
/// Labels of a recording that tell what it is of, and not where it ran.
const OPEN: [&str; 2] = ["service.name", "service.version"];

/// Names and values.
pub(super) type Labels = Vec<(String, String)>;

/// A label of the command line.
pub(super) fn parse(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("a label is written NAME=VALUE".to_owned());
    };
    if name.is_empty() || name != prometheus(name) || name.starts_with("__") {
        return Err(format!(
            "{name:?} is no name of a label: letters, digits and _, no digit first"
        ));
    }
    if value.is_empty() || value.len() > MAX_VALUE {
        return Err(format!("the value of {name} has 1 to {MAX_VALUE} bytes"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Labels that the user gave.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) service: Option<&'a str>,
    pub(super) more: &'a [(String, String)],
    pub(super) redaction: Option<&'a Redaction>,
}

/// Labels of a recording: those of the recorder, then those of the command line, which win. Their names are those of
/// OpenTelemetry's conventions where there is one.
pub(super) fn of(recording: &Recording, given: Given<'_>) -> Labels {
    let mut labels = Labels::new();
    let mut set = |name: &str, value: String| {
        if value.is_empty() {
            return;
        }
        let value: String = value.chars().take(MAX_VALUE / 4).collect();
        match labels.iter_mut().find(|(known, _)| prometheus(known) == prometheus(name)) {
            Some(label) => label.1 = value,
            None => labels.push((name.to_owned(), value)),
        }
    };
    let name = recording_facts::name(&recording.path);
    let mut own_name = name.strip_suffix(".memtrail").unwrap_or(&name).to_owned();
    if let Some(known) = &recording.description {
        known.program.rsplit('/').next().unwrap_or_default().clone_into(&mut own_name);
        if let Some(redaction) = given.redaction {
            set("process", redaction.process(recording));
        } else {
            set("host.name", known.host.clone());
            set("process.pid", known.pid.to_string());
        }
    }
    set("service.name", own_name);
    for (name, value) in recording.description.iter().flat_map(|known| &known.labels) {
        let is_shown = given.redaction.is_none() || OPEN.contains(&name.as_str());
        if is_shown && !name.starts_with("__") {
            set(name, value.clone());
        }
    }
    for (name, value) in given.more {
        set(name, value.clone());
    }
    if let Some(service) = given.service {
        set("service.name", service.to_owned());
    }
    labels
}

/// Sorted labels with names that Prometheus and Pyroscope take.
pub(super) fn for_prometheus(labels: Labels) -> Labels {
    let mut labels: Labels =
        labels.into_iter().map(|(name, value)| (prometheus(&name), value)).collect();
    labels.sort();
    labels
}

/// A name as Prometheus has it: `service.name` becomes `service_name`.
fn prometheus(name: &str) -> String {
    let fits = |(at, c): (usize, char)| {
        if c == '_' || c.is_ascii_alphabetic() || (at > 0 && c.is_ascii_digit()) { c } else { '_' }
    };
    name.chars().enumerate().map(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_prometheus() {
        assert_eq!(parse("zone=a=b"), Ok(("zone".to_owned(), "a=b".to_owned())));
        for wrong in ["zone", "=a", "zone=", "1=a", "a-b=c", "__name__=x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(prometheus("service.name"), "service_name");
        assert_eq!(prometheus("1x é"), "_x__");
    }
}
