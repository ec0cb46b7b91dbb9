//! What a page holds: recordings and the latest answer.

use std::sync::Arc;

use memtrail_engine::references::ReferencesFacts;
use memtrail_engine::{
    ApiError, Description, Engine, InMemory, InMemoryTyped, RecordingId, Setting, SnapshotFacts,
    SnapshotFile, SourcesInMemory,
};

/// The engine of one page.
#[derive(Debug)]
pub struct Page {
    engine: Engine,
    /// Types of the snapshot that is added next.
    types: Option<Arc<[u8]>>,
    /// The latest answer or error.
    result: Vec<u8>,
}

impl Default for Page {
    fn default() -> Self {
        let engine = Engine::new(Setting { live: false, offline: true });
        Self { engine, types: None, result: Vec::new() }
    }
}

impl Page {
    /// Reads a trace with its description, which is JSON. Whether that worked; if not, the
    /// [`result`](Self::result) says why.
    pub fn add(&mut self, trace: &[u8], description: &[u8]) -> bool {
        let api_error = match serde_json::from_slice::<Description>(description) {
            Err(error) => ApiError::bad(format_args!("malformed description: {error}")),
            Ok(description) if description.no_trace => {
                self.engine.add_without_trace(description);
                return true;
            }
            Ok(description) => match self.engine.add(trace, description, &mut |_| {}) {
                Ok(_) => return true,
                Err(error) => ApiError::bad(error),
            },
        };
        self.result = api_error.answer().encode();
        false
    }

    /// Takes the types of blocks and the names of variables of the snapshot that is added next.
    pub fn add_types(&mut self, types: &[u8]) {
        self.types = (!types.is_empty()).then(|| types.into());
    }

    /// Adds a heap snapshot to a recording, with what is said of it, which is JSON. Whether that
    /// worked; if not, the [`result`](Self::result) says why.
    pub fn add_snapshot(&mut self, recording: u32, snapshot: &[u8], facts: &[u8]) -> bool {
        let facts = match serde_json::from_slice::<SnapshotFacts>(facts) {
            Ok(facts) => facts,
            Err(error) => {
                let api_error = ApiError::bad(format_args!("malformed facts: {error}"));
                self.result = api_error.answer().encode();
                return false;
            }
        };
        let types = self.types.take();
        let file = (!snapshot.is_empty()).then(|| -> Arc<dyn SnapshotFile> {
            match types {
                None => Arc::new(InMemory(snapshot.into())),
                Some(types) => Arc::new(InMemoryTyped { snapshot: snapshot.into(), types }),
            }
        });
        self.engine.add_snapshot(RecordingId(recording), facts, file);
        true
    }

    /// Gives a recording what is known of references to its blocks from `malloc`: a file, and what is said of it, which
    /// is JSON. Whether that worked; if not, the [`result`](Self::result) says why.
    pub fn add_references(&mut self, recording: u32, references: &[u8], facts: &[u8]) -> bool {
        let given = serde_json::from_slice::<ReferencesFacts>(facts)
            .map_err(|error| ApiError::bad(format_args!("malformed facts: {error}")))
            .and_then(|facts| {
                self.engine.add_references(RecordingId(recording), references, facts)
            });
        if let Err(api_error) = &given {
            self.result = api_error.answer().encode();
        }
        given.is_ok()
    }

    /// Takes source files, which are JSON. Whether that worked; if not, the [`result`](Self::result) says why.
    pub fn add_sources(&mut self, sources: &[u8]) -> bool {
        match serde_json::from_slice::<SourcesInMemory>(sources) {
            Ok(sources) => {
                self.engine.set_source_files(Arc::new(sources));
                true
            }
            Err(error) => {
                let api_error = ApiError::bad(format_args!("malformed source files: {error}"));
                self.result = api_error.answer().encode();
                false
            }
        }
    }

    /// Answers a query.
    pub fn query(&mut self, query: &[u8]) -> &[u8] {
        self.result = self.engine.query(query).bytes;
        &self.result
    }

    /// What the last call had to say.
    pub fn result(&self) -> &[u8] {
        &self.result
    }
}

#[cfg(test)]
mod tests {
    use memtrail_engine::ResponseBody;

    use super::*;

    const TRACE: &[u8] = include_bytes!("../../trace/tests/fixtures/cache-v2.ctf");

    #[test]
    fn a_page_answers_as_a_server_does() {
        let mut page = Page::default();
        assert!(page.add(TRACE, br#"{"name":"cache"}"#));
        let answer = ResponseBody::decode(page.query(br#"{"query":"about"}"#)).unwrap();
        assert_eq!(answer.header()["recordings"][0]["name"], "cache");
        assert_eq!(answer.header()["offline"], true);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let mut page = Page::default();
        for (trace, description, message) in [
            (&b"no trace"[..], &b"{}"[..], ""),
            (b"", b"{}", ""),
            (TRACE, b"{", "malformed description: "),
            (TRACE, b"\xff", "malformed description: "),
        ] {
            assert!(!page.add(trace, description));
            let error = ResponseBody::decode(page.result()).unwrap();
            let said = error.header()["error"]["message"].as_str().unwrap();
            assert!(said.starts_with(message) && !said.is_empty(), "{said}");
        }
        assert!(page.add(TRACE, b"{}"));
        for (references, facts, message) in [
            (&b"no references"[..], &br#"{"snapshot":1}"#[..], ""),
            (b"", br#"{"snapshot":1}"#, ""),
            (b"", b"{}", "malformed facts: "),
        ] {
            assert!(!page.add_references(0, references, facts));
            let error = ResponseBody::decode(page.result()).unwrap();
            let said = error.header()["error"]["message"].as_str().unwrap();
            assert!(said.starts_with(message) && !said.is_empty(), "{said}");
        }
        let error = ResponseBody::decode(page.query(b"nonsense")).unwrap();
        assert!(error.header()["error"]["message"].is_string());
    }
}
