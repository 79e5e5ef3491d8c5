//! Why a server is of no use.

use std::fmt;

use autonoe_core::{AgentError, AgentErrorKind};

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
