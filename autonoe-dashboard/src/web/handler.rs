//! Request handler of the web server: authenticates, routes and answers one request.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde::Deserialize;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::auth::{NAME, TokenSource, authenticate, within};
use super::connection_pool::PooledConnection;
use super::origin::{Route, Verb, route};
use super::response::{Body, Page, document, json, refusal};
use super::{Exposure, ServeLimits, Site, ViewToken, stream};
use crate::{FleetAction, FleetIntent, MemberRowId, RunIntent, RunPageAction};

/// State shared by all connections of a server.
pub(super) struct ServerState {
    pub(super) token: ViewToken,
    /// URL folder that the cookie is valid for.
    pub(super) folder: String,
    pub(super) page: Page,
    pub(super) site: Site,
    pub(super) exposure: Exposure,
    pub(super) limits: ServeLimits,
    pub(super) streams: Arc<Semaphore>,
    pub(super) ending: CancellationToken,
}

/// Status and message of a refused request.
type Refusal = (StatusCode, String);

/// Handles one request of the connection `place`.
pub(super) async fn answer(
    state: &ServerState,
    place: &PooledConnection,
    request: Request<Incoming>,
) -> Response<Body> {
    let answered = match authorize(state, &request) {
        Ok(_) if !place.authenticate() => Err(refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many connections",
        )),
        Ok((entrance, route)) => serve(state, entrance, route, request).await,
        Err(refused) => Err(refused),
    };
    answered.unwrap_or_else(|(status, reason)| {
        tracing::debug!(
            status = status.as_u16(),
            "a request for the dashboard is refused"
        );
        refusal(status, &reason)
    })
}

fn authorize(
    state: &ServerState,
    request: &Request<Incoming>,
) -> Result<(TokenSource, Route), Refusal> {
    let (uri, headers) = (request.uri(), request.headers());
    // A client without the token cannot find out which addresses exist.
    let (token, folder, exposure) = (&state.token, &state.folder, &state.exposure);
    let entrance = authenticate(token, folder, exposure, request.method(), uri, headers);
    let entrance = entrance.map_err(|status| match status {
        StatusCode::UNAUTHORIZED => refused(
            status,
            "the token is missing or wrong: open the address that the command printed",
        ),
        _ => refused(
            status,
            "requests are allowed only from the page of this server",
        ),
    })?;
    let path = within(&state.folder, uri.path()).unwrap_or(uri.path());
    let route = route(request.method(), path).map_err(|status| match status {
        StatusCode::METHOD_NOT_ALLOWED => refused(status, "method not allowed"),
        _ => refused(status, "not found"),
    })?;
    Ok((entrance, route))
}

async fn serve(
    state: &ServerState,
    entrance: TokenSource,
    route: Route,
    request: Request<Incoming>,
) -> Result<Response<Body>, Refusal> {
    match route {
        Route::Page => Ok(state.page.respond(&state.folder, cookie(state, entrance)?)),
        Route::Dashboard => {
            let fleet = state.site.newest_fleet().ok_or_else(not_found)?;
            let text = serde_json::to_string(&*fleet)
                .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
            Ok(json(StatusCode::OK, text))
        }
        Route::Run => {
            let run = state.site.newest_run().ok_or_else(not_found)?;
            let text = serde_json::to_string(&*run)
                .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
            Ok(json(StatusCode::OK, text))
        }
        Route::RunDocument => {
            let run = state.site.newest_run().ok_or_else(not_found)?;
            Ok(document(run.document.to_string()))
        }
        Route::Events => {
            let permit = state
                .streams
                .clone()
                .try_acquire_owned()
                .map_err(|_| refused(StatusCode::SERVICE_UNAVAILABLE, "too many open pages"))?;
            let ending = state.ending.clone();
            Ok(stream::respond(&state.site, ending, &state.limits, permit))
        }
        Route::ActOnRun(action) => {
            let (head, body) = request.into_parts();
            let body = receive(body, &state.limits).await?;
            let text = run_text(action, &head.headers, &body)?;
            send_run_intent(state, RunIntent { action, text })
        }
        Route::Act { member, verb } => {
            let (head, body) = request.into_parts();
            let body = receive(body, &state.limits).await?;
            let action = action(verb, &head.headers, &body)?;
            send_intent(state, member, action)
        }
    }
}

/// Returns the cookie for a browser that sent the token in the URL.
fn cookie(state: &ServerState, entrance: TokenSource) -> Result<Option<HeaderValue>, Refusal> {
    if entrance != TokenSource::Url {
        return Ok(None);
    }
    let (folder, secret) = (&state.folder, state.token.reveal());
    let cookie = format!("{NAME}={secret}; Path={folder}/; HttpOnly; SameSite=Strict");
    let mut cookie = HeaderValue::try_from(cookie)
        .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    cookie.set_sensitive(true);
    Ok(Some(cookie))
}

/// Reads a request body up to the limits on size and time.
async fn receive(body: Incoming, limits: &ServeLimits) -> Result<Bytes, Refusal> {
    let too_long = || refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long");
    // A declared length above the limit is refused without reading the body.
    let least = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if least > limits.body_bytes {
        return Err(too_long());
    }
    let whole = Limited::new(body, limits.body_bytes).collect();
    match timeout(limits.read_time, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(_)) => Err(refused(StatusCode::BAD_REQUEST, "the body is incomplete")),
        Err(_) => Err(refused(
            StatusCode::REQUEST_TIMEOUT,
            "the body took too long to arrive",
        )),
    }
}

/// Body of an `instruct` request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Instruction {
    text: String,
}

/// Parses the requested action.
fn action(verb: Verb, headers: &HeaderMap, body: &[u8]) -> Result<FleetAction, Refusal> {
    let simple = |action| match body.trim_ascii() {
        b"" | b"{}" => Ok(action),
        _ => Err(refused(
            StatusCode::BAD_REQUEST,
            "this request takes no body",
        )),
    };
    match verb {
        Verb::Pause => simple(FleetAction::Pause),
        Verb::Resume => simple(FleetAction::Resume),
        Verb::Stop => simple(FleetAction::Stop),
        Verb::Kill => simple(FleetAction::Kill),
        Verb::Instruct => {
            if !is_json(headers.get(CONTENT_TYPE)) {
                let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                return Err(refused(
                    status,
                    "the content type of an instruction must be application/json",
                ));
            }
            let read: Result<Instruction, _> = serde_json::from_slice(body);
            match read {
                Ok(Instruction { text }) if !text.trim().is_empty() => {
                    Ok(FleetAction::Instruct { text })
                }
                _ => Err(refused(
                    StatusCode::BAD_REQUEST,
                    "an instruction must be {\"text\": \"..\"} with a text that is not empty",
                )),
            }
        }
    }
}

/// Parses the text of an action on the run; empty unless it is a message.
fn run_text(action: RunPageAction, headers: &HeaderMap, body: &[u8]) -> Result<String, Refusal> {
    let verb = match action {
        RunPageAction::Pause => Verb::Pause,
        RunPageAction::Resume => Verb::Resume,
        RunPageAction::Stop => Verb::Stop,
        RunPageAction::Instruct => Verb::Instruct,
    };
    Ok(match self::action(verb, headers, body)? {
        FleetAction::Instruct { text } => text,
        _ => String::new(),
    })
}

fn is_json(kind: Option<&HeaderValue>) -> bool {
    let kind = kind
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Sends an intent to the driver. 202 means accepted, not carried out.
fn send_intent(
    state: &ServerState,
    member: MemberRowId,
    action: FleetAction,
) -> Result<Response<Body>, Refusal> {
    let part = state.site.fleet.as_ref().ok_or_else(not_found)?;
    let fleet = part.source.newest();
    let Some(found) = fleet.member(&member) else {
        return Err(refused(StatusCode::NOT_FOUND, "unknown member"));
    };
    if !action.is_accepted_by(found) {
        let reason = format!("cannot {action} this member: it is {}", found.status);
        return Err((StatusCode::CONFLICT, reason));
    }
    if let Some(reason) = &found.unreachable {
        return Err((StatusCode::CONFLICT, reason.clone()));
    }
    let intent = FleetIntent { member, action };
    let accepted = serde_json::to_string(&intent)
        .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    queue(&part.intents, intent, "the fleet accepts no more requests")?;
    Ok(json(StatusCode::ACCEPTED, accepted))
}

/// Sends an intent to the process of the run. 202 means accepted, not carried out.
fn send_run_intent(state: &ServerState, intent: RunIntent) -> Result<Response<Body>, Refusal> {
    let part = state.site.run.as_ref().ok_or_else(not_found)?;
    let view = part.view.borrow().clone();
    if !view.actions.contains(&intent.action) {
        let (action, phase) = (intent.action.name(), view.phase.name());
        let reason = format!("cannot {action} this run: it is {phase}");
        return Err((StatusCode::CONFLICT, reason));
    }
    let accepted = serde_json::to_string(&intent)
        .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    queue(&part.intents, intent, "the run accepts no more requests")?;
    Ok(json(StatusCode::ACCEPTED, accepted))
}

/// Queues an intent for the receiver of the view.
fn queue<T>(intents: &mpsc::Sender<T>, intent: T, closed: &str) -> Result<(), Refusal> {
    intents.try_send(intent).map_err(|error| {
        let reason = match error {
            TrySendError::Full(_) => "too many requests are waiting",
            TrySendError::Closed(_) => closed,
        };
        refused(StatusCode::SERVICE_UNAVAILABLE, reason)
    })
}

fn not_found() -> Refusal {
    refused(StatusCode::NOT_FOUND, "not found")
}

fn refused(status: StatusCode, reason: &str) -> Refusal {
    (status, reason.to_owned())
}
