//! Why a server is of no use.

use std::fmt;
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind};
use autonoe_process::{Action, Ladder, Process, ShutDown};
use tokio::time::timeout;

/// How much of what a server wrote to its standard error is repeated.
const TAIL: usize = 2_000;

/// Why a server could not be started.
#[derive(Debug)]
pub(super) struct StartFailure {
    pub(super) server: String,
    pub(super) kind: AgentErrorKind,
    pub(super) reason: String,
    pub(super) stderr: String,
}

impl StartFailure {
    pub(super) fn new(server: &str, kind: AgentErrorKind, reason: impl Into<String>) -> Self {
        Self {
            server: server.to_owned(),
            kind,
            reason: reason.into(),
            stderr: String::new(),
        }
    }
}

impl fmt::Display for StartFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, reason, .. } = self;
        write!(f, "the MCP server {server:?} of the session: {reason}")?;
        f.write_str(&said_last(&self.stderr))
    }
}

/// Makes one error of all servers that could not be started.
pub(super) fn of_all(failures: &[StartFailure]) -> AgentError {
    let kinds = failures.iter().map(|failure| failure.kind);
    // What only a person can mend stays so, whatever else is broken.
    let kind = kinds
        .clone()
        .find(|kind| !kind.is_retryable())
        .or_else(|| kinds.clone().next())
        .unwrap_or(AgentErrorKind::Other);
    let reasons: Vec<_> = failures.iter().map(ToString::to_string).collect();
    AgentError::new(kind, reasons.join("; "))
        .with_remedy("see that its command can be started, or leave it out of mcpServers")
}

/// Says what a program wrote to its standard error last, if it wrote anything.
pub(super) fn said_last(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() {
        return String::new();
    }
    let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    format!("; it wrote last: {}", &text[from..])
}

/// How long a server may take to exit after it has closed its output. The error reports the exit
/// status.
pub(super) const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// How long a server that still runs may take to exit before it is killed.
const KILL_DELAY: Duration = Duration::from_millis(500);

/// Why a server that is there is of no use.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The session is over.
    Stopped,
    /// It was not ready in this time.
    Late(Duration),
    /// The connection ended, and perhaps why.
    Ended(Option<String>),
    /// It said something that it should not.
    Said(String),
}

impl Refusal {
    pub(super) fn kind(&self) -> AgentErrorKind {
        match self {
            Self::Late(_) => AgentErrorKind::Timeout,
            Self::Stopped | Self::Ended(_) | Self::Said(_) => AgentErrorKind::Other,
        }
    }

    /// Says what it means when the server is a child, which has ended so.
    pub(super) fn of_child(&self, end: &ShutDown) -> String {
        match (self, end.exit) {
            // A pipe that is broken says nothing; how the process ended does.
            (Self::Ended(_), Some(exit)) => format!("it {exit} before it was ready"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("its start was cancelled because the session ended"),
            Self::Late(limit) => write!(f, "it was not ready after {limit:?}"),
            Self::Ended(None) => f.write_str("it ended the connection before it was ready"),
            Self::Ended(Some(why)) => write!(f, "it cannot be reached: {why}"),
            Self::Said(reason) => f.write_str(reason),
        }
    }
}

/// Ends a server that is of no use.
pub(super) async fn break_off(process: Process, refusal: &Refusal) -> ShutDown {
    let limit = match refusal {
        Refusal::Ended(_) => EXIT_LIMIT,
        Refusal::Said(_) => KILL_DELAY,
        Refusal::Stopped | Refusal::Late(_) => Duration::ZERO,
    };
    let _ = timeout(limit, process.exited()).await;
    let brief = Ladder::kill_at_once().then(Action::CloseStdin, KILL_DELAY);
    process.shut_down(brief).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_must_mend_is_not_tried_again() {
        let fails = |kind| StartFailure::new("s", kind, "it is broken");
        let both = [
            fails(AgentErrorKind::Timeout),
            fails(AgentErrorKind::Configuration),
        ];

        assert_eq!(of_all(&both).code(), "configuration");
        assert_eq!(of_all(&both[..1]).code(), "timeout");
    }

    #[test]
    fn the_end_of_a_long_complaint_is_repeated() {
        let long = format!("{}ä: no browser\n", "x".repeat(5_000));

        let said = said_last(&long);

        assert!(said.ends_with("ä: no browser"), "{said}");
        assert!(said.len() < 2_100);
        assert_eq!(said_last(" \n"), "");
    }
}
