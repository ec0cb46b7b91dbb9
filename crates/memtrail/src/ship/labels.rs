//! Labels of a recording's profiles.

use memtrail_recording::Recording;

use crate::recording_facts;

/// The longest value that Pyroscope takes.
const MAX_VALUE: usize = 2048;

/// A label of the command line.
pub(super) fn parse(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("a label is written NAME=VALUE".to_owned());
    };
    if name.is_empty() || name != sanitized(name) || name.starts_with("__") {
        return Err(format!(
            "{name:?} is no name of a label: letters, digits and _, no digit first"
        ));
    }
    if value.is_empty() || value.len() > MAX_VALUE {
        return Err(format!("the value of {name} has 1 to {MAX_VALUE} bytes"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Labels of a recording: those of the recorder, then those of the command line, which win.
pub(super) fn of(
    recording: &Recording,
    service: Option<&str>,
    more: &[(String, String)],
) -> Vec<(String, String)> {
    let mut labels: Vec<(String, String)> = Vec::new();
    let mut set = |name: &str, value: String| {
        if value.is_empty() {
            return;
        }
        let value: String = value.chars().take(MAX_VALUE / 4).collect();
        match labels.iter_mut().find(|(known, _)| known == name) {
            Some(label) => label.1 = value,
            None => labels.push((name.to_owned(), value)),
        }
    };
    let name = recording_facts::name(&recording.path);
    let mut own_name = name.strip_suffix(".memtrail").unwrap_or(&name).to_owned();
    if let Some(known) = &recording.description {
        known.program.rsplit('/').next().unwrap_or_default().clone_into(&mut own_name);
        set("host_name", known.host.clone());
        set("process_pid", known.pid.to_string());
    }
    set("service_name", own_name);
    for (name, value) in recording.description.iter().flat_map(|known| &known.labels) {
        let name = sanitized(name);
        if !name.starts_with("__") {
            set(&name, value.clone());
        }
    }
    for (name, value) in more {
        set(name, value.clone());
    }
    if let Some(service) = service {
        set("service_name", service.to_owned());
    }
    labels.sort();
    labels
}

/// A name as Prometheus has it: `service.name` becomes `service_name`.
fn sanitized(name: &str) -> String {
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
        assert_eq!(sanitized("service.name"), "service_name");
        assert_eq!(sanitized("1x é"), "_x__");
    }
}
