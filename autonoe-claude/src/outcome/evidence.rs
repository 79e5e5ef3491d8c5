//! [`Evidence`] for the outcome of a session.

use jiff::Timestamp;

use super::Exit;
use crate::wire::{ApiRetry, RateLimitEvent, ResultMessage};

/// Facts at the end of a session, from which its outcome is decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The result of the last turn; `None` if it has none.
    pub result: Option<TurnResult>,
    /// The quota that rejected a call of the last turn.
    pub rejected: Option<RejectedQuota>,
    /// The failure that the program last reported in place of an answer of the model.
    pub reported_failure: Option<ApiFailure>,
    /// The failed model call that the program is retrying, if nothing followed it.
    pub retrying: Option<RetriedCall>,
    /// Whether a turn ever started.
    pub has_started: bool,
    /// The number of running tasks of the session.
    pub live_tasks: usize,
    /// The exit of the process; `None` if it still runs or was not waited for.
    pub exit: Option<Exit>,
    /// The end of the program's standard error.
    pub stderr: String,
    /// The action of the host.
    pub host: HostAction,
    /// The current time. A text of the program may have a time of day without a date.
    pub now: Timestamp,
}

impl Evidence {
    /// Creates the evidence of a session without any facts.
    pub fn new(now: Timestamp) -> Self {
        Self {
            result: None,
            rejected: None,
            reported_failure: None,
            retrying: None,
            has_started: false,
            live_tasks: 0,
            exit: None,
            stderr: String::new(),
            host: HostAction::Nothing,
            now,
        }
    }
}

/// The action of the host on a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HostAction {
    /// The host let the session run.
    #[default]
    Nothing,
    /// The host received a stop request: it interrupted the turn or ended the process.
    Stopped,
    /// The host stopped the session because model calls kept failing; see [`Evidence::retrying`].
    GaveUp,
}

/// The result of a turn, without its cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnResult {
    /// `success`, or the cause of the end.
    pub subtype: String,
    /// Whether it failed.
    pub is_error: bool,
    /// The text of the failure, or the last text of the agent.
    pub text: String,
    /// The error messages.
    pub errors: Vec<String>,
    /// The reason of the end.
    pub terminal_reason: Option<String>,
    /// The HTTP status of the failure.
    pub api_error_status: Option<u64>,
    /// The name of the failure.
    pub api_error: Option<String>,
    /// The reason why it could not start.
    pub startup_failure_reason: Option<String>,
}

impl From<&ResultMessage<'_>> for TurnResult {
    fn from(result: &ResultMessage<'_>) -> Self {
        let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let subtype = owned(&result.subtype).unwrap_or_default();
        Self {
            // A result without a status is a failure, unless its subtype is `success`.
            is_error: result.is_error.unwrap_or(subtype != "success"),
            subtype,
            text: owned(&result.result).unwrap_or_default(),
            errors: result
                .errors
                .iter()
                .map(|error| error.to_string())
                .collect(),
            terminal_reason: owned(&result.terminal_reason),
            api_error_status: result.api_error_status,
            api_error: owned(&result.api_error),
            startup_failure_reason: owned(&result.startup_failure_reason),
        }
    }
}

impl TurnResult {
    /// Returns whether the turn finished without an error.
    pub fn succeeded(&self) -> bool {
        self.subtype == "success" && !self.is_error
    }

    /// Returns the error messages of the program.
    pub fn error_messages(&self) -> Vec<String> {
        let mut all: Vec<String> = self.errors.clone();
        if all.is_empty() && !self.text.trim().is_empty() {
            all.push(self.text.clone());
        }
        all
    }
}

/// A quota that rejected a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedQuota {
    /// The name of the quota; `None` if the server limits requests on its own behalf.
    pub claim: Option<String>,
    /// Time of the reset.
    pub resets_at: Option<Timestamp>,
}

impl RejectedQuota {
    /// Returns the quota of `event`, or `None` if the event rejects no call.
    pub fn from_event(event: &RateLimitEvent<'_>) -> Option<Self> {
        event.is_rejected().then(|| Self {
            claim: event.claim.as_deref().map(str::to_owned),
            resets_at: event.resets_at,
        })
    }
}

/// A model call that failed and that the program retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RetriedCall {
    /// The kind of the failure.
    pub failure: ApiFailure,
    /// The HTTP status of the answer; `None` if there was no answer.
    pub status: Option<u64>,
}

impl From<&ApiRetry<'_>> for RetriedCall {
    fn from(retry: &ApiRetry<'_>) -> Self {
        let named = retry.error.as_deref().map(ApiFailure::from_name);
        let status = retry.error_status;
        Self {
            failure: ApiFailure::resolve(named, status).unwrap_or(ApiFailure::Other),
            status,
        }
    }
}

/// The cause of a failed model call, by the program's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiFailure {
    /// The credentials are missing or were refused.
    Authentication,
    /// The account cannot pay.
    Billing,
    /// The model does not exist, or not for this account.
    ModelNotFound,
    /// Too many calls.
    RateLimit,
    /// The service is overloaded or failing.
    Server,
    /// The service considers the request invalid.
    InvalidRequest,
    /// Something else.
    Other,
}

impl ApiFailure {
    /// Parses the program's name of a failure.
    pub fn from_name(name: &str) -> Self {
        match name {
            "authentication_failed" => Self::Authentication,
            "billing_error" => Self::Billing,
            "model_not_found" => Self::ModelNotFound,
            "rate_limit" => Self::RateLimit,
            "server_error" | "overloaded" => Self::Server,
            "invalid_request" => Self::InvalidRequest,
            _ => Self::Other,
        }
    }

    /// Combines the program's name for a failure with its HTTP status. The name is more precise
    /// than the status, unless it is unknown.
    pub(super) fn resolve(named: Option<Self>, status: Option<u64>) -> Option<Self> {
        match named {
            Some(Self::Other) | None => status.map(Self::from_status).or(named),
            named => named,
        }
    }

    /// Returns the failure of an HTTP status.
    fn from_status(status: u64) -> Self {
        match status {
            401 | 403 => Self::Authentication,
            402 => Self::Billing,
            404 => Self::ModelNotFound,
            429 => Self::RateLimit,
            408 | 500..=599 => Self::Server,
            400..=499 => Self::InvalidRequest,
            _ => Self::Other,
        }
    }
}
