//! Checksums of the artefacts, and the list of crates.

use std::fs::{self, File};
use std::process::Command;

use serde_json::{Value, json};

use super::artefacts::Release;
use super::files::write;
use crate::command::{Outcome, output, repository, run};

/// Writes `memtrail-VERSION.cdx.json`, a list of all crates in the format of `CycloneDX`, and `SHA256SUMS`.
pub(super) fn write_all(release: &Release) -> Outcome {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(repository()).args(["metadata", "--locked", "--format-version", "1"]);
    let metadata = output(cargo.args(["--filter-platform", "x86_64-unknown-linux-musl"]))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let text = format!("{:#}\n", bill(&metadata, &release.version));
    write(&release.folder.join(format!("memtrail-{}.cdx.json", release.version)), &text)?;
    checksums(release)
}

/// The list of the crates in this repository's lock file for the launcher's platform, with those of its tests and chores.
fn bill(metadata: &Value, version: &str) -> Value {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let components: Vec<Value> = packages
        .iter()
        .filter(|package| !package["source"].is_null())
        .map(|package| {
            let (name, version) = (&package["name"], &package["version"]);
            let purl = format!(
                "pkg:cargo/{}@{}",
                name.as_str().unwrap_or_default(),
                version.as_str().unwrap_or_default()
            );
            let licence = package["license"].as_str().unwrap_or("NOASSERTION");
            json!({
                "type": "library",
                "bom-ref": purl,
                "name": name,
                "version": version,
                "licenses": [{ "expression": licence.replace('/', " OR ") }],
                "purl": purl,
            })
        })
        .collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "memtrail", "version": version } },
        "components": components,
    })
}

fn checksums(release: &Release) -> Outcome {
    let path = release.folder.join("SHA256SUMS");
    let failed = |error: std::io::Error| format!("{}: {error}", release.folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&release.folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name());
    }
    names.sort();
    let file = File::create(&path).map_err(failed)?;
    let mut sum = Command::new("sha256sum");
    run(sum.args(&names).current_dir(&release.folder).stdout(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_others_are_listed_with_their_licences() {
        let metadata = json!({"packages": [
            {"name": "memtrail", "version": "0.1.0", "source": null, "license": "MIT"},
            {"name": "clap", "version": "4.6.0", "source": "registry", "license": "MIT/Apache-2.0"},
        ]});
        let bill = bill(&metadata, "0.1.0");
        assert_eq!(bill["components"].as_array().map(Vec::len), Some(1));
        assert_eq!(bill["components"][0]["purl"], "pkg:cargo/clap@4.6.0");
        assert_eq!(bill["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
