//! Failures of MCP servers at startup.

use std::fmt;
use std::time::Duration;

use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use autonoe_process::{Process, ShutdownAction, ShutdownPolicy, ShutdownReport};
use tokio::time::timeout;

/// Maximum length of a server's stderr in messages, in bytes.
const TAIL: usize = 2_000;

/// Reason that a server could not be started.
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
        f.write_str(&stderr_suffix(&self.stderr))
    }
}

/// Combines the failures of all servers into one error.
pub(super) fn combine_failures(failures: &[StartFailure]) -> AgentError {
    let kinds = failures.iter().map(|failure| failure.kind);
    // One failure that retrying cannot fix makes the whole error permanent.
    let kind = kinds
        .clone()
        .find(|kind| !kind.is_retryable())
        .or_else(|| kinds.clone().next())
        .unwrap_or(AgentErrorKind::Other);
    let reasons: Vec<_> = failures.iter().map(ToString::to_string).collect();
    AgentError::new(kind, reasons.join("; "))
        .with_remedy("check that its command can be started, or leave it out of mcpServers")
}

/// Returns the end of a program's stderr as a clause, or an empty text.
pub(super) fn stderr_suffix(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() {
        return String::new();
    }
    let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    format!("; its standard error ended with: {}", &text[from..])
}

/// Maximum time for a server to exit after it has closed its output. The error reports the exit
/// status.
pub(super) const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// Maximum time for a running server to exit before it is killed.
const KILL_DELAY: Duration = Duration::from_millis(500);

/// Reason that the handshake with a server failed.
#[derive(Debug)]
pub(super) enum HandshakeError {
    /// The session has ended.
    Stopped,
    /// The server was not ready in this time.
    TimedOut(Duration),
    /// The connection ended, with the reason if known.
    Ended(Option<String>),
    /// The server sent an invalid or negative response.
    Protocol(String),
}

impl HandshakeError {
    pub(super) fn kind(&self) -> AgentErrorKind {
        match self {
            Self::TimedOut(_) => AgentErrorKind::Timeout,
            Self::Stopped | Self::Ended(_) | Self::Protocol(_) => AgentErrorKind::Other,
        }
    }

    /// Describes the failure of a child process that has ended this way.
    pub(super) fn of_child(&self, end: &ShutdownReport) -> String {
        match (self, end.exit) {
            // The exit status says more than a broken pipe.
            (Self::Ended(_), Some(exit)) => format!("it {exit} before it was ready"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("its start was cancelled because the session ended"),
            Self::TimedOut(limit) => write!(f, "it was not ready after {limit:?}"),
            Self::Ended(None) => f.write_str("it ended the connection before it was ready"),
            Self::Ended(Some(why)) => write!(f, "it cannot be reached: {why}"),
            Self::Protocol(reason) => f.write_str(reason),
        }
    }
}

/// Ends a server whose handshake failed.
pub(super) async fn abort_start(process: Process, refusal: &HandshakeError) -> ShutdownReport {
    let limit = match refusal {
        HandshakeError::Ended(_) => EXIT_LIMIT,
        HandshakeError::Protocol(_) => KILL_DELAY,
        HandshakeError::Stopped | HandshakeError::TimedOut(_) => Duration::ZERO,
    };
    let _ = timeout(limit, process.exited()).await;
    let brief = ShutdownPolicy::kill_at_once().then(ShutdownAction::CloseStdin, KILL_DELAY);
    process.shutdown(brief).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_failure_takes_precedence_over_timeout() {
        let fails = |kind| StartFailure::new("s", kind, "it is broken");
        let both = [
            fails(AgentErrorKind::Timeout),
            fails(AgentErrorKind::Configuration),
        ];

        assert_eq!(combine_failures(&both).code(), "configuration");
        assert_eq!(combine_failures(&both[..1]).code(), "timeout");
    }

    #[test]
    fn the_end_of_a_long_complaint_is_repeated() {
        let long = format!("{}ä: no browser\n", "x".repeat(5_000));

        let said = stderr_suffix(&long);

        assert!(said.ends_with("ä: no browser"), "{said}");
        assert!(said.len() < 2_100);
        assert_eq!(stderr_suffix(" \n"), "");
    }
}
