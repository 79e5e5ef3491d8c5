//! [`Outcome`] of a session of Claude Code.

use std::fmt;
use std::process::ExitStatus;

use autonoe_core::{AgentError, AgentErrorKind, SessionOutcome};
use jiff::Timestamp;

/// What a person can do when the credentials are missing or were refused.
pub(crate) const LOG_IN: &str = "start `claude` and say /login there, or set ANTHROPIC_API_KEY or \
    CLAUDE_CODE_OAUTH_TOKEN (made by `claude setup-token`)";

/// Remedy for an account that cannot pay.
const ADD_CREDIT: &str = "add credit to the account, or log in to another one";

/// Remedy for a model that is not available.
const OTHER_MODEL: &str = "choose another model, or use an account that has this one";

/// How a session of Claude Code ended.
///
/// ```
/// use autonoe_claude::outcome::Outcome;
/// use autonoe_core::SessionOutcome;
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
    /// The agent used as many turns as it was allowed.
    MaxTurns,
    /// The budget that the program was given is spent.
    BudgetSpent,
    /// The subscription's quota is spent.
    QuotaSpent {
        /// What the program said.
        message: String,
        /// When the quota comes back, if it is known.
        resets_at: Option<Timestamp>,
    },
    /// The host stopped it.
    Interrupted,
    /// The credentials are missing or were refused.
    Authentication {
        /// What the program said.
        message: String,
    },
    /// The account cannot pay.
    Billing {
        /// What the program said.
        message: String,
    },
    /// The model does not exist, or not for this account.
    ModelNotFound {
        /// What the program said.
        message: String,
    },
    /// The service behind the program is overloaded or failing. Later it may work.
    Transient {
        /// What the program said.
        message: String,
    },
    /// The agent ran into an error of its own.
    Failed {
        /// What the program said.
        messages: Vec<String>,
    },
    /// The program could not start what was asked of it, and would not the next time.
    StartFailed {
        /// What it said.
        message: String,
    },
    /// The program ended, or closed its output, before it reported the result of its turn.
    Crashed {
        /// What is known of it.
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

/// How the program's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It is gone, and nobody knows how.
    Unknown,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        status.code().map_or(Self::Unknown, Self::Code)
    }
}

impl From<autonoe_process::Exit> for Exit {
    fn from(exit: autonoe_process::Exit) -> Self {
        match exit {
            autonoe_process::Exit::Code(code) => Self::Code(code),
            autonoe_process::Exit::Signal(signal) => Self::Signal(signal),
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Unknown => f.write_str("ended in an unknown way"),
        }
    }
}

/// The most lines of a complaint that are worth repeating.
const LINES: usize = 5;

/// The most characters of a complaint that are worth repeating.
const CHARACTERS: usize = 600;

/// Returns the last lines that are not blank of what the program wrote to its standard error,
/// without anything that a terminal would obey.
///
/// ```
/// use autonoe_claude::outcome::last_words;
///
/// assert_eq!(last_words("\nerror: unknown option\n\n  --wat  \n"), Some("error: unknown option; --wat".into()));
/// assert_eq!(last_words("\u{1b}[2Jgone"), Some("[2Jgone".into()));
/// assert_eq!(last_words(" \n"), None);
/// ```
pub fn last_words(stderr: &str) -> Option<String> {
    let lines: Vec<String> = stderr
        .lines()
        .map(|line| harmless(line).trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    let from = lines.len().saturating_sub(LINES);
    let said = lines.get(from..).unwrap_or_default().join("; ");
    let skipped = said.chars().count().saturating_sub(CHARACTERS);
    let said: String = said.chars().skip(skipped).collect();
    (!said.is_empty()).then_some(said)
}

/// Replaces what a terminal would obey and what would change how the rest is read.
pub(crate) fn harmless(text: &str) -> String {
    let replace = |character: char| match character {
        character if character.is_control() => ' ',
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => '\u{fffd}',
        '\u{2066}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
        character => character,
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_few() {
        let long = "é".repeat(10_000);
        let many = "one\n".repeat(100);

        assert_eq!(
            last_words(&long).map(|said| said.chars().count()),
            Some(600)
        );
        assert_eq!(
            last_words(&many).as_deref(),
            Some("one; one; one; one; one")
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_exit_is_a_code_or_a_signal() {
        use std::os::unix::process::ExitStatusExt;

        assert_eq!(Exit::from(ExitStatus::from_raw(1 << 8)), Exit::Code(1));
        assert_eq!(Exit::from(ExitStatus::from_raw(9)), Exit::Signal(9));
    }
}
