//! What stands under the page's address.
//!
//! | path | what |
//! |---|---|
//! | `/TOKEN/` and its files | the page |
//! | `POST /TOKEN/api/query` | a query, answered by the engine |
//! | `POST /TOKEN/api/snapshot` | asks a recording's program for a heap snapshot |
//! | `GET /TOKEN/api/events?since=VERSION` | events: what has changed since then |

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use memtrail_engine::{ApiError, Engine, ErrorResponse, RecordingId, Status};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use crate::assets::SERVED;
use crate::events::RecordingEvents;
use crate::guard::{self, Guard};
use crate::trigger::SnapshotTrigger;

/// Bytes of a query; the longest that a page sends are lists of some thousand ids.
const MAX_QUERY_LEN: usize = 1 << 18;
/// Bytes of a request for a snapshot.
const MAX_REQUEST_LEN: usize = 1000;
/// How long a query waits for an analysis before the response is that it is under way.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) engine: Arc<Engine>,
    pub(crate) recording_events: RecordingEvents,
    pub(crate) trigger: Option<Arc<dyn SnapshotTrigger>>,
    /// Queries that are worked on at a time.
    pub(crate) lanes: Arc<Semaphore>,
}

pub(crate) fn router(shared: Shared, guard: Arc<Guard>) -> Router {
    let mut routes = Router::new()
        .route("/{token}", get(to_folder))
        .route("/{token}/api/query", post(query))
        .route("/{token}/api/snapshot", post(take_snapshot))
        .route("/{token}/api/events", get(events));
    for asset in &SERVED {
        let file = || async { ([(header::CONTENT_TYPE, asset.media_type)], asset.content) };
        routes = routes.route(&format!("/{{token}}/{}", asset.name), get(file));
    }
    routes
        .fallback(guard::not_found)
        .with_state(shared)
        .layer(middleware::from_fn_with_state(guard, guard::check))
}

/// The page's files are named relative to its folder.
async fn to_folder(uri: Uri) -> Redirect {
    Redirect::permanent(&format!("{}/", uri.path()))
}

async fn query(State(shared): State<Shared>, request: Request) -> Response {
    // A length that is too great is refused before anything of it is read.
    let body = request.into_body();
    let fits = body.size_hint().lower() <= MAX_QUERY_LEN as u64;
    let query = if fits { to_bytes(body, MAX_QUERY_LEN).await.ok() } else { None };
    let Some(query) = query else {
        return (StatusCode::PAYLOAD_TOO_LARGE, "this query is too long\n").into_response();
    };
    let until = Instant::now() + PATIENCE;
    let reply = loop {
        let mut changes = shared.recording_events.changes();
        // A page that no longer waits drops this future, and its query is never worked on.
        let Ok(lane) = shared.lanes.clone().acquire_owned().await else { return ended() };
        let (engine, query) = (Arc::clone(&shared.engine), query.clone());
        let work = tokio::task::spawn_blocking(move || {
            let reply = engine.query(&query);
            drop(lane);
            reply
        });
        let Ok(reply) = work.await else {
            return (StatusCode::INTERNAL_SERVER_ERROR, "this query cannot be answered\n")
                .into_response();
        };
        // What is being analysed is waited for without keeping others from asking.
        if reply.status != Status::Analysing
            || timeout_at(until.into(), changes.next()).await.is_err()
        {
            break reply;
        }
    };
    let status = StatusCode::from_u16(reply.status.http()).unwrap_or(StatusCode::BAD_REQUEST);
    (status, [(header::CONTENT_TYPE, "application/octet-stream")], reply.bytes).into_response()
}

fn ended() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, "the server ends\n").into_response()
}

/// That the program has been asked.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct TakeSnapshotResponse {
    asked: bool,
}

/// `POST {"rec": 0}`.
async fn take_snapshot(State(shared): State<Shared>, request: Request) -> Response {
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

/// A version that is none is as if there were none: the page hears of all.
async fn events(State(shared): State<Shared>, uri: Uri) -> Response {
    let since = uri.query().and_then(|query| query.strip_prefix("since=")?.parse().ok());
    let events = serde_json::to_string(&shared.recording_events.since(since)).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], events).into_response()
}
