//! One request and what comes of it.

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

use super::connection_pool::PooledConnection;
use super::door::{Entrance, enter};
use super::folder::{NAME, within};
use super::response::{Body, json, page, refusal};
use super::site::{Route, Verb, route};
use super::{ServeLimits, ViewToken, stream};
use crate::{DashboardSource, FleetAction, FleetIntent, MemberId};

/// What all connections of a server share.
pub(super) struct Desk {
    pub(super) token: ViewToken,
    /// Where the cookie is for.
    pub(super) folder: String,
    pub(super) source: Arc<dyn DashboardSource>,
    pub(super) intents: mpsc::Sender<FleetIntent>,
    pub(super) limits: ServeLimits,
    pub(super) streams: Arc<Semaphore>,
    pub(super) ending: CancellationToken,
}

/// Why a request is refused, in a sentence.
type Refusal = (StatusCode, String);

/// Answers one request of the connection at `place`.
pub(super) async fn answer(
    desk: &Desk,
    place: &PooledConnection,
    request: Request<Incoming>,
) -> Response<Body> {
    let answered = match let_in(desk, &request) {
        Ok(_) if !place.authenticate() => Err(refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "there are too many connections already",
        )),
        Ok((entrance, route)) => serve(desk, entrance, route, request).await,
        Err(refused) => Err(refused),
    };
    answered.unwrap_or_else(|(status, why)| {
        tracing::debug!(
            status = status.as_u16(),
            "a request for the dashboard is refused"
        );
        refusal(status, &why)
    })
}

fn let_in(desk: &Desk, request: &Request<Incoming>) -> Result<(Entrance, Route), Refusal> {
    let (uri, headers) = (request.uri(), request.headers());
    // To who has no secret it is not told which addresses there are.
    let entrance = enter(&desk.token, &desk.folder, request.method(), uri, headers);
    let entrance = entrance.map_err(|status| match status {
        StatusCode::UNAUTHORIZED => refused(
            status,
            "the token is missing or wrong: open the address that the command printed",
        ),
        _ => refused(status, "this is for pages of this machine only"),
    })?;
    let path = within(&desk.folder, uri.path()).unwrap_or(uri.path());
    let route = route(request.method(), path).map_err(|status| match status {
        StatusCode::METHOD_NOT_ALLOWED => refused(status, "not by this method"),
        _ => refused(status, "there is nothing at this address"),
    })?;
    Ok((entrance, route))
}

async fn serve(
    desk: &Desk,
    entrance: Entrance,
    route: Route,
    request: Request<Incoming>,
) -> Result<Response<Body>, Refusal> {
    match route {
        Route::Page => Ok(page(&desk.folder, cookie(desk, entrance)?)),
        Route::Dashboard => {
            let text = serde_json::to_string(&*desk.source.newest())
                .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
            Ok(json(StatusCode::OK, text))
        }
        Route::Events => {
            let permit = desk.streams.clone().try_acquire_owned().map_err(|_| {
                refused(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "too many pages watch already",
                )
            })?;
            let (fleet, ending) = (desk.source.watch(), desk.ending.clone());
            Ok(stream::respond(fleet, ending, &desk.limits, permit))
        }
        Route::Act { member, verb } => {
            let (head, body) = request.into_parts();
            let body = receive(body, &desk.limits).await?;
            let action = action(verb, &head.headers, &body)?;
            hand_over(desk, member, action)
        }
    }
}

/// Makes the cookie of a browser that came with the secret in its address.
fn cookie(desk: &Desk, entrance: Entrance) -> Result<Option<HeaderValue>, Refusal> {
    if entrance != Entrance::Address {
        return Ok(None);
    }
    let (folder, secret) = (&desk.folder, desk.token.reveal());
    let cookie = format!("{NAME}={secret}; Path={folder}/; HttpOnly; SameSite=Strict");
    let mut cookie = HeaderValue::try_from(cookie)
        .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    cookie.set_sensitive(true);
    Ok(Some(cookie))
}

/// Reads a body, up to its limits.
async fn receive(body: Incoming, limits: &ServeLimits) -> Result<Bytes, Refusal> {
    let too_long = || refused(StatusCode::PAYLOAD_TOO_LARGE, "this is too long");
    // What says that it is too long need not be read to be refused.
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
            "the body came too slowly",
        )),
    }
}

/// What an agent is to be told.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Instruction {
    text: String,
}

/// Reads what is to be done.
fn action(verb: Verb, headers: &HeaderMap, body: &[u8]) -> Result<FleetAction, Refusal> {
    let simple = |action| match body.trim_ascii() {
        b"" | b"{}" => Ok(action),
        _ => Err(refused(StatusCode::BAD_REQUEST, "this takes no body")),
    };
    match verb {
        Verb::Pause => simple(FleetAction::Pause),
        Verb::Resume => simple(FleetAction::Resume),
        Verb::Stop => simple(FleetAction::Stop),
        Verb::Kill => simple(FleetAction::Kill),
        Verb::Instruct => {
            if !is_json(headers.get(CONTENT_TYPE)) {
                let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                return Err(refused(status, "an instruction is application/json"));
            }
            let read: Result<Instruction, _> = serde_json::from_slice(body);
            match read {
                Ok(Instruction { text }) if !text.trim().is_empty() => {
                    Ok(FleetAction::Instruct { text })
                }
                _ => Err(refused(
                    StatusCode::BAD_REQUEST,
                    "an instruction is {\"text\": \"..\"} with something in it",
                )),
            }
        }
    }
}

fn is_json(kind: Option<&HeaderValue>) -> bool {
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Hands over what is to be done. That it was taken is not that it was done.
fn hand_over(
    desk: &Desk,
    member: MemberId,
    action: FleetAction,
) -> Result<Response<Body>, Refusal> {
    let fleet = desk.source.newest();
    let Some(found) = fleet.member(&member) else {
        return Err(refused(StatusCode::NOT_FOUND, "there is no such member"));
    };
    if !action.fits(found.status) {
        let why = format!("it is {}: nothing to {action}", found.status);
        return Err((StatusCode::CONFLICT, why));
    }
    if let Some(why) = &found.unreachable {
        return Err((StatusCode::CONFLICT, why.clone()));
    }
    let intent = FleetIntent { member, action };
    let taken = serde_json::to_string(&intent)
        .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    match desk.intents.try_send(intent) {
        Ok(()) => Ok(json(StatusCode::ACCEPTED, taken)),
        Err(TrySendError::Full(_)) => Err(refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "too much is asked for already",
        )),
        Err(TrySendError::Closed(_)) => Err(refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "nobody carries it out any more",
        )),
    }
}

fn refused(status: StatusCode, why: &str) -> Refusal {
    (status, why.to_owned())
}
