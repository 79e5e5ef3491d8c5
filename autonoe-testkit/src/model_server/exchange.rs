//! One request and what became of it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Headers;

/// One request of a client, and what became of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange<R> {
    /// Counts the requests from 1, in the order in which they were understood.
    pub number: usize,
    /// When it came, counted from the start of the server.
    pub since_start: Duration,
    /// The HTTP method.
    pub method: String,
    /// Where it went, parameters included, secrets in them redacted.
    pub path: String,
    /// Its headers, without secrets.
    pub headers: Headers,
    /// What was asked, as the vendor's types.
    pub request: Arc<R>,
    /// How the server decided to answer.
    pub answer: Answer,
    /// How it came to its end, or `None` while it is under way.
    pub ending: Option<Ending>,
}

/// How a server decided to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// With this turn of the script, counted from 1.
    Turn(usize),
    /// As a side request: it took no turn.
    Side,
    /// As the server always answers here, such as a probe whether it is there.
    Fixed,
    /// That there is nothing at this path.
    NotFound,
    /// With an error, because the script had no answer, for this reason.
    Unanswered(String),
}

/// How an exchange came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// All of the answer was handed to the connection.
    Sent,
    /// The script asked for the connection to be cut, and it was.
    Cut,
    /// The client left before it had all of the answer.
    PeerLeft,
    /// The server was stopped before that.
    Stopped,
}

impl<R> Exchange<R> {
    /// Returns why the script had no answer, or `None` if it had one.
    pub fn unanswered(&self) -> Option<&str> {
        match &self.answer {
            Answer::Unanswered(reason) => Some(reason),
            _ => None,
        }
    }
}

// Derived, it would ask for `R: Clone`.
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

/// Tells the exchange in one line: `2. POST /v1/messages (what was asked): turn 1, sent`.
impl<R: fmt::Display> fmt::Display for Exchange<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, method, .. } = self;
        let Self { path, request, .. } = self;
        write!(f, "{number}. {method} {path} ({request}): ")?;
        match &self.answer {
            Answer::Turn(turn) => write!(f, "turn {turn}")?,
            Answer::Side => f.write_str("side request")?,
            Answer::Fixed => f.write_str("fixed answer")?,
            Answer::NotFound => f.write_str("not found")?,
            Answer::Unanswered(reason) => write!(f, "UNANSWERED, {reason}")?,
        }
        f.write_str(match self.ending {
            None => ", under way",
            Some(Ending::Sent) => ", sent",
            Some(Ending::Cut) => ", cut",
            Some(Ending::PeerLeft) => ", the client left",
            Some(Ending::Stopped) => ", stopped",
        })
    }
}
