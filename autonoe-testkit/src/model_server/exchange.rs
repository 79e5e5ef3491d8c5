//! A request and how it was answered.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Headers;

/// A request of a client, and its answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange<R> {
    /// The number of the request, counted from 1 in the order in which requests were parsed.
    pub number: usize,
    /// The time of arrival since the start of the server.
    pub since_start: Duration,
    /// The HTTP method.
    pub method: String,
    /// The path with its parameters; secrets in them are redacted.
    pub path: String,
    /// The headers, without secrets.
    pub headers: Headers,
    /// The request as types.
    pub request: Arc<R>,
    /// The server's decision how to answer.
    pub answer: ServerAnswer,
    /// End of the exchange, or `None` while it is in progress.
    pub ending: Option<Ending>,
}

/// A server's decision how to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerAnswer {
    /// With this turn of the script, counted from 1.
    Turn(usize),
    /// As a side request, which took no turn.
    Side,
    /// With a constant answer of the server, for example to a reachability probe.
    Fixed,
    /// With an error, because nothing exists at this path.
    NotFound,
    /// With an error, because the script had no answer for this reason.
    Unanswered(String),
}

/// End of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The complete response was passed to the connection.
    Sent,
    /// The connection was cut, as the script requested.
    Cut,
    /// The client left before it received the complete response.
    PeerLeft,
    /// The server was stopped before that.
    Stopped,
}

impl<R> Exchange<R> {
    /// Returns the reason why the script had no answer, or `None` if it had one.
    pub fn unanswered(&self) -> Option<&str> {
        match &self.answer {
            ServerAnswer::Unanswered(reason) => Some(reason),
            _ => None,
        }
    }
}

// Deriving it would require `R: Clone`.
impl<R> Clone for Exchange<R> {
    fn clone(&self) -> Self {
        Self {
            number: self.number,
            since_start: self.since_start,
            method: self.method.clone(),
            path: self.path.clone(),
            headers: self.headers.clone(),
            request: self.request.clone(),
            answer: self.answer.clone(),
            ending: self.ending,
        }
    }
}

/// Formats the exchange in one line: `2. POST /v1/messages (what was asked): turn 1, sent`.
impl<R: fmt::Display> fmt::Display for Exchange<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, method, .. } = self;
        let Self { path, request, .. } = self;
        write!(f, "{number}. {method} {path} ({request}): ")?;
        match &self.answer {
            ServerAnswer::Turn(turn) => write!(f, "turn {turn}")?,
            ServerAnswer::Side => f.write_str("side request")?,
            ServerAnswer::Fixed => f.write_str("fixed answer")?,
            ServerAnswer::NotFound => f.write_str("not found")?,
            ServerAnswer::Unanswered(reason) => write!(f, "UNANSWERED, {reason}")?,
        }
        f.write_str(match self.ending {
            None => ", in progress",
            Some(Ending::Sent) => ", sent",
            Some(Ending::Cut) => ", cut",
            Some(Ending::PeerLeft) => ", the client disconnected",
            Some(Ending::Stopped) => ", stopped",
        })
    }
}
