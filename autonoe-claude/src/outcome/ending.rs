//! [`Outcome`] of a session of Claude Code.

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
