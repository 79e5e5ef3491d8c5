//! [`Outcome`] of a session of Claude Code.

use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::{AgentError, sanitize};
use autonoe_process::Exit;
use jiff::Timestamp;

/// Remedy for missing or refused credentials.
pub(crate) const LOG_IN: &str = "start `claude` and enter /login, or set ANTHROPIC_API_KEY or \
    CLAUDE_CODE_OAUTH_TOKEN (created by `claude setup-token`)";

/// Remedy for an account that cannot pay.
const ADD_CREDIT: &str = "add credit to the account, or log in to another one";

/// Remedy for a model that is not available.
const OTHER_MODEL: &str = "choose another model, or use an account that has this one";

/// Outcome of a session of Claude Code.
///
/// ```
/// use autonoe_claude::outcome::Outcome;
/// use autonoe_core::agent::SessionOutcome;
///
/// assert_eq!(Outcome::MaxTurns.into_core().ok(), Some(SessionOutcome::MaxTurns));
///
/// let error = Outcome::Authentication { message: "Not logged in".into() }.into_core().unwrap_err();
/// assert_eq!((error.code(), error.is_retryable()), ("authentication", false));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The agent finished its turn.
    Completed,
    /// The agent reached its limit of turns.
    MaxTurns,
    /// The budget of the session is spent.
    BudgetSpent,
    /// The subscription's quota is spent.
    QuotaSpent {
        /// The program's message.
        message: String,
        /// Time at which the quota resets, if it is known.
        resets_at: Option<Timestamp>,
    },
    /// The host stopped it.
    Interrupted,
    /// The credentials are missing or were refused.
    Authentication {
        /// The program's message.
        message: String,
    },
    /// The account cannot pay.
    Billing {
        /// The program's message.
        message: String,
    },
    /// The model does not exist, or not for this account.
    ModelNotFound {
        /// The program's message.
        message: String,
    },
    /// The service behind the program is overloaded or failing. A retry may succeed.
    Transient {
        /// The program's message.
        message: String,
    },
    /// The agent failed with an error of its own.
    Failed {
        /// The program's messages.
        messages: Vec<String>,
    },
    /// The program could not start with the requested settings, and a retry would fail as well.
    StartFailed {
        /// The program's message.
        message: String,
    },
    /// The program ended, or closed its output, before it reported the result of its turn.
    Crashed {
        /// A description of the crash.
        message: String,
    },
}

impl Outcome {
    /// Converts to the outcome of a session in core.
    ///
    /// # Errors
    ///
    /// The agent could not do its work: this outcome is an [`AgentError`] in core.
    pub fn into_core(self) -> Result<SessionOutcome, AgentError> {
        let (kind, message) = match self {
            Self::Completed => return Ok(SessionOutcome::Completed),
            Self::MaxTurns => return Ok(SessionOutcome::MaxTurns),
            Self::BudgetSpent => return Ok(SessionOutcome::BudgetExceeded),
            Self::QuotaSpent { message, resets_at } => {
                return Ok(SessionOutcome::QuotaExceeded { message, resets_at });
            }
            Self::Interrupted => return Ok(SessionOutcome::Interrupted),
            Self::Failed { messages } => return Ok(SessionOutcome::ExecutionError { messages }),
            Self::Authentication { message } => {
                let error = AgentError::new(AgentErrorKind::Authentication, message);
                return Err(error.with_remedy(LOG_IN));
            }
            Self::Billing { message } => {
                let error = AgentError::new(AgentErrorKind::Billing, message);
                return Err(error.with_remedy(ADD_CREDIT));
            }
            Self::ModelNotFound { message } => {
                let error = AgentError::new(AgentErrorKind::Configuration, message);
                return Err(error.with_remedy(OTHER_MODEL));
            }
            Self::StartFailed { message } => (AgentErrorKind::Configuration, message),
            Self::Transient { message } => (AgentErrorKind::Overloaded, message),
            Self::Crashed { message } => (AgentErrorKind::Crashed, message),
        };
        Err(AgentError::new(kind, message))
    }
}

/// Describes the end of the process for an error.
pub(crate) fn exit_text(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exited with code {code}"),
        Exit::Signal(signal) => format!("was killed by signal {signal}"),
        Exit::Unknown => "ended without an exit code or a signal".to_owned(),
    }
}

/// Maximum number of lines of an error message.
const LINES: usize = 5;

/// Maximum number of characters of an error message.
const CHARACTERS: usize = 600;

/// Returns the last non-blank lines of the program's standard error, without control characters.
///
/// ```
/// use autonoe_claude::outcome::stderr_excerpt;
///
/// assert_eq!(stderr_excerpt("\nerror: unknown option\n\n  --wat  \n"), Some("error: unknown option; --wat".into()));
/// assert_eq!(stderr_excerpt("\u{1b}[2Jgone"), Some("[2Jgone".into()));
/// assert_eq!(stderr_excerpt(" \n"), None);
/// ```
pub fn stderr_excerpt(stderr: &str) -> Option<String> {
    let lines: Vec<String> = stderr
        .lines()
        .map(|line| sanitize(line).trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(LINES);
    let text = lines.get(from..).unwrap_or_default().join("; ");
    let skipped = text.chars().count().saturating_sub(CHARACTERS);
    let text: String = text.chars().skip(skipped).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stderr_excerpt_is_bounded() {
        let long = "é".repeat(10_000);
        let many = "one\n".repeat(100);

        assert_eq!(
            stderr_excerpt(&long).map(|excerpt| excerpt.chars().count()),
            Some(600)
        );
        assert_eq!(
            stderr_excerpt(&many).as_deref(),
            Some("one; one; one; one; one")
        );
    }
}
