//! Snapshots that the page asks a running program for.

use std::fmt::Debug;
use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use memtrail_engine::{ApiError, ErrorResponse, RecordingId};
use serde::Serialize;
use serde_json::Value;

use crate::routes::Shared;

/// Bytes of such a request.
const MAX_REQUEST_LEN: usize = 1000;

/// Asks a recording's program for a heap snapshot. It does not wait for it: an event will report it.
pub trait SnapshotTrigger: Debug + Send + Sync {
    /// Asks.
    ///
    /// # Errors
    /// If the program does not run any more, or takes none.
    fn take(&self, recording: RecordingId) -> Result<(), ApiError>;
}

/// That the program has been asked.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct TakeSnapshotResponse {
    asked: bool,
}

/// `POST {"rec": 0}`.
pub(crate) async fn take(State(shared): State<Shared>, request: Request) -> Response {
    let body = to_bytes(request.into_body(), MAX_REQUEST_LEN).await.unwrap_or_default();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let recording = request["rec"].as_u64().and_then(|rec| u32::try_from(rec).ok());
    let taken = match recording {
        None => Err(ApiError::bad("no recording is named")),
        Some(rec) => {
            let (engine, trigger) = (Arc::clone(&shared.engine), shared.trigger.clone());
            let work = move || {
                engine.may_take_snapshot(RecordingId(rec))?;
                let nobody = || ApiError::bad("nobody here can ask the program");
                trigger.ok_or_else(nobody)?.take(RecordingId(rec))
            };
            let failed = |_| ApiError::bad("the program could not be asked");
            tokio::task::spawn_blocking(work).await.map_err(failed).flatten()
        }
    };
    let (status, body) = match taken {
        Ok(()) => (StatusCode::OK, serde_json::to_string(&TakeSnapshotResponse { asked: true })),
        Err(api_error) => {
            let status = StatusCode::from_u16(api_error.status.http());
            let body = serde_json::to_string(&ErrorResponse { error: &api_error });
            (status.unwrap_or(StatusCode::BAD_REQUEST), body)
        }
    };
    let body = body.unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
