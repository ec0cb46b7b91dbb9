//! The names of the demo's variables, stored in its recording. Without them it shows numbers of fields.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;

/// The unit that the demo's program is.
const UNIT: &str = "Leaks";

/// What the demo reads of the output of `memtrail types --json`.
#[derive(Deserialize)]
struct Types {
    error: Option<String>,
    units: Vec<Unit>,
}

#[derive(Deserialize)]
struct Unit {
    name: String,
    named: u64,
}

/// Runs `memtrail types`; `memtrail` is the command without arguments. The error is the reason why there are
/// no names.
pub(super) fn name(mut memtrail: Command, program: &Path, recording: &Path) -> Result<(), String> {
    memtrail.arg("types").arg(recording).arg("--program").arg(program).arg("--json");
    let output = memtrail.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cannot start memtrail types: {error}"))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        let reason = printed.lines().next().map(|line| line.trim_start_matches("memtrail: "));
        let ended = || format!("memtrail types ended with {}", output.status);
        return Err(reason.map_or_else(ended, str::to_owned));
    }
    judge(&output.stdout)
}

/// Whether what was printed has names.
fn judge(json: &[u8]) -> Result<(), String> {
    let types: Types = serde_json::from_slice(json)
        .map_err(|error| format!("memtrail types printed something else: {error}"))?;
    let named = types.units.iter().any(|unit| unit.name == UNIT && unit.named > 0);
    match types.error {
        _ if named => Ok(()),
        Some(error) => Err(error),
        None => Err("the compiler left no .cmt or .cmi file that belongs to the program".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_units_are_not_enough() {
        let with = |error: &str, named: u64| {
            let units = r#"{"name": "Stdlib", "fields": 3, "named": 3}"#;
            let json =
                format!(r#"{{{error} "units": [{units}, {{"name": "Leaks", "named": {named}}}]}}"#);
            judge(json.as_bytes())
        };
        assert_eq!(with("", 8), Ok(()));
        assert!(with("", 0).unwrap_err().contains("no .cmt or .cmi file"));
        assert_eq!(with(r#""error": "no compiler","#, 0), Err("no compiler".into()));
        assert!(judge(b"").unwrap_err().starts_with("memtrail types printed something else"));
    }
}
