//! Source files beside recordings: where they are, and what opens them in an editor.

mod editor;
mod folders;

use std::path::PathBuf;
use std::sync::Arc;

use memtrail_engine::{Engine, SourceFile, SourceFiles};

use crate::error::Failure;
use editor::Editor;
pub(crate) use folders::SourceFolders;

/// Options of commands that show source files.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct SourceOptions {
    /// Show source files of this folder beside figures; may be given several times. A file belongs to a recording's
    /// if the ends of their paths are the same; links that lead out of the folder are not followed
    #[arg(long = "source", value_name = "DIR", help_heading = "Source files")]
    folders: Vec<PathBuf>,
}

/// The same, with an editor.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct EditorOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,

    /// Open source lines at this address, in which {path}, {line} and {column} are replaced; that of the variable
    /// `MEMTRAIL_EDITOR` if not given, or that of Visual Studio Code
    #[arg(long, value_name = "URL", help_heading = "Source files", value_parser = editor::parse)]
    editor: Option<Editor>,
}

/// Source files for a page that can lead to an editor.
#[derive(Debug)]
struct WithEditor {
    folders: SourceFolders,
    editor: Editor,
}

impl SourceFiles for WithEditor {
    fn find(&self, recorded: &str) -> Result<SourceFile, String> {
        self.folders.find(recorded)
    }

    fn editor(&self) -> Option<&str> {
        Some(&self.editor.0)
    }
}

impl SourceOptions {
    /// Whether a folder is given.
    pub(crate) const fn is_asked_for(&self) -> bool {
        !self.folders.is_empty()
    }

    /// Lists the folders' files; nothing if no folder is given.
    pub(crate) fn open(&self) -> Result<Option<SourceFolders>, Failure> {
        if self.folders.is_empty() {
            return Ok(None);
        }
        SourceFolders::open(&self.folders).map(Some)
    }
}

impl EditorOptions {
    /// Says to the engine where source files are, if anybody said so.
    pub(crate) fn give(&self, engine: &Engine) -> Result<(), Failure> {
        if let Some(folders) = self.source.open()? {
            let editor = self.editor.clone().map_or_else(editor::of_environment, Ok)?;
            engine.set_source_files(Arc::new(WithEditor { folders, editor }));
        }
        Ok(())
    }
}
