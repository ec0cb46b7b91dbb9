//! References as a page that is a file has them.

use memtrail_references::References;
use serde::{Deserialize, Serialize};

use crate::api_error::ApiError;
use crate::engine::{Engine, RecordingId};

/// What is known of a file of references without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferencesFacts {
    /// The number of its snapshot.
    Snapshot(u64),
    /// Why there is no file, or not its bytes.
    Missing(String),
}

impl Engine {
    /// Gives a recording what a page has of its references: the bytes of a file, or the reason why there are none.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    pub fn add_references(
        &self,
        id: RecordingId,
        bytes: &[u8],
        facts: ReferencesFacts,
    ) -> Result<(), ApiError> {
        let found = match facts {
            ReferencesFacts::Missing(reason) => Err(reason),
            ReferencesFacts::Snapshot(number) => {
                Ok((number, References::read(bytes).map_err(ApiError::bad)?))
            }
        };
        self.set_references(id, found);
        Ok(())
    }
}
