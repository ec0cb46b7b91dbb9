//! Runs the commands of the pages on stored recordings, and writes or compares their outputs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::blocks::{self, Check};
use super::recordings;
use crate::command::Outcome;

/// A folder with copies of the stored recordings, in which commands run as on a terminal of nobody.
pub(super) struct Replay {
    folder: PathBuf,
    /// Folder of the `memtrail` that is built here.
    programs: PathBuf,
}

impl Replay {
    pub(super) fn new(memtrail: &Path) -> Outcome<Self> {
        let name = format!("memtrail-docs-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let programs = memtrail.parent().ok_or("memtrail has no folder")?.to_path_buf();
        let replay = Self { folder, programs };
        recordings::copy_to(&replay.folder)?;
        Ok(replay)
    }

    /// The page with the outputs that its commands have now.
    pub(super) fn page(&self, text: &str) -> Outcome<String> {
        let mut page: Vec<String> = text.lines().map(str::to_owned).collect();
        // From the end, so that the numbers of lines before stay right.
        for block in blocks::read(text)?.into_iter().rev() {
            let Check::Run(expected) = &block.check else { continue };
            let mut lines = Vec::new();
            for command in blocks::commands(&block.lines) {
                let typed = command.join("\n");
                let (output, exit) = self.run(typed.trim_start_matches("$ "))?;
                if exit != expected.exit {
                    let line = block.line;
                    return Err(format!("{line}: `{typed}` ended with {exit}:\n{output}"));
                }
                lines.extend(command.iter().map(|line| (*line).to_owned()));
                lines.extend(expected.excerpt(&output));
            }
            page.splice(block.line..block.line + block.lines.len(), lines);
        }
        Ok(page.join("\n") + "\n")
    }

    /// Runs a command line of a shell, and returns both of its outputs in their order, and its exit code.
    fn run(&self, line: &str) -> Outcome<(String, i32)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{line}")])
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", format!("{}:{path}", self.programs.display()))
            .envs([("TZ", "UTC"), ("LC_ALL", "C.UTF-8"), ("MEMTRAIL_TYPES", "off")])
            .env("HOME", &self.folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("cannot start sh: {e}"))?;
        let text = String::from_utf8(output.stdout).map_err(|e| format!("{line}: {e}"))?;
        let text: String = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        let exit = output.status.code().ok_or_else(|| format!("{line}: {}", output.status))?;
        Ok((text, exit))
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
