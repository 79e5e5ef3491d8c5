//! [`RequestLog`]: the requests of a server and how they were answered, to inspect and to wait for.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::{Headers, ReceivedPrompt};

/// The requests of a server so far.
///
/// Clones share the log. It outlives its server.
pub struct RequestLog<R> {
    shared: Arc<Shared<R>>,
}

struct Shared<R> {
    started: Instant,
    exchanges: Mutex<Vec<Exchange<R>>>,
    /// Counts the changes, so that no waiter misses one.
    changes: watch::Sender<u64>,
    /// The runtime of the server: it keeps the deadlines of waiters in real time, whatever the
    /// clock of their own runtime shows.
    timer: Handle,
}

/// The error of a wait for a request that did not arrive in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; the server saw:{seen}")]
pub struct RequestTimeout {
    reason: String,
    seen: String,
}

impl<R> RequestLog<R> {
    pub(super) fn new(timer: Handle) -> Self {
        let shared = Shared {
            started: Instant::now(),
            exchanges: Mutex::default(),
            changes: watch::Sender::new(0),
            timer,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns all exchanges so far, in the order of their numbers.
    pub fn exchanges(&self) -> Vec<Exchange<R>> {
        self.lock().clone()
    }

    /// Returns the exchanges for which the script had no answer.
    pub fn unanswered(&self) -> Vec<Exchange<R>> {
        let mut exchanges = self.exchanges();
        exchanges.retain(|exchange| exchange.unanswered().is_some());
        exchanges
    }

    /// Records a request and returns its number.
    pub(super) fn record(&self, new: impl FnOnce(usize, Duration) -> Exchange<R>) -> usize {
        let number = {
            let mut exchanges = self.lock();
            let number = exchanges.len() + 1;
            exchanges.push(new(number, self.shared.started.elapsed()));
            number
        };
        self.notify();
        number
    }

    /// Records how exchange `number` ended, unless it is already known.
    pub(super) fn ended(&self, number: usize, ending: Ending) {
        if let Some(exchange) = self.lock().get_mut(number - 1) {
            exchange.ending.get_or_insert(ending);
        }
        self.notify();
    }

    fn notify(&self) {
        self.shared.changes.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Exchange<R>>> {
        let exchanges = self.shared.exchanges.lock();
        exchanges.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: fmt::Display> RequestLog<R> {
    /// Waits until an exchange satisfies `wanted`, and returns the first one that does.
    ///
    /// Earlier exchanges count. Each is checked again when it changes, so that a test can also wait
    /// for its end. The time is real time, even where tokio's time is paused.
    ///
    /// # Errors
    ///
    /// If there was none `within` that time, or the server was stopped. The error shows the
    /// requests that arrived instead.
    pub async fn wait_for(
        &self,
        within: Duration,
        mut is_match: impl FnMut(&Exchange<R>) -> bool,
    ) -> Result<Exchange<R>, RequestTimeout> {
        let mut changes = self.shared.changes.subscribe();
        let mut expired = AbortOnDrop(self.shared.timer.spawn(tokio::time::sleep(within)));
        loop {
            changes.mark_unchanged();
            let found = self.lock().iter().find(|seen| is_match(seen)).cloned();
            if let Some(found) = found {
                return Ok(found);
            }
            tokio::select! {
                biased;
                // Cannot fail, because `self` holds the sender.
                _ = changes.changed() => {}
                end = &mut expired.0 => return Err(self.not_seen(within, end.is_ok())),
            }
        }
    }

    /// Renders the log, one line per exchange.
    pub fn render(&self) -> String {
        let lines = self.lock();
        lines
            .iter()
            .map(|exchange| format!("{exchange}\n"))
            .collect()
    }

    fn not_seen(&self, within: Duration, server_lives: bool) -> RequestTimeout {
        let reason = if server_lives {
            format!("no such request came within {within:?}")
        } else {
            "no such request came before the server was stopped".to_owned()
        };
        let seen = match self.render() {
            empty if empty.is_empty() => " nothing".to_owned(),
            lines => format!("\n{}", lines.trim_end()),
        };
        RequestTimeout { reason, seen }
    }
}

/// Aborts a task when its waiter is dropped.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<R> Clone for RequestLog<R> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<R: fmt::Display> fmt::Debug for RequestLog<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exchanges = self.lock();
        f.debug_list()
            .entries(exchanges.iter().map(ToString::to_string))
            .finish()
    }
}

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

/// A request of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// A request for the next message of the model.
    Messages(ReceivedPrompt),
    /// A request for the number of tokens of such a request.
    CountTokens(ReceivedPrompt),
    /// Any other request, with its body as text.
    Other(String),
}

impl Request {
    /// Returns the request for a message, or `None` if it is another request.
    pub fn messages(&self) -> Option<&ReceivedPrompt> {
        match self {
            Self::Messages(prompt) => Some(prompt),
            _ => None,
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Messages(prompt) => prompt.fmt(f),
            Self::CountTokens(prompt) => write!(f, "count the tokens of {prompt}"),
            Self::Other(body) => write!(f, "{} bytes", body.len()),
        }
    }
}

impl RequestLog<Request> {
    /// Returns the requests that took a turn of the script, or should have taken one.
    pub fn main_requests(&self) -> Vec<ReceivedPrompt> {
        let exchanges = self.exchanges();
        let main = exchanges.iter().filter(|exchange| {
            matches!(
                exchange.answer,
                ServerAnswer::Turn(_) | ServerAnswer::Unanswered(_)
            )
        });
        main.filter_map(|exchange| exchange.request.messages().cloned())
            .collect()
    }
}
