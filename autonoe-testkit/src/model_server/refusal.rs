//! [`Refusal`]: an error response with an HTTP status.

use hyper::header::RETRY_AFTER;
use hyper::{HeaderMap, StatusCode};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use serde_json::{Map, Value};

use super::headers::scripted_header;

/// An error response with an HTTP status.
///
/// The vendor of a server chooses status and text: [`overloaded`](Self::overloaded) is 529 with
/// Anthropic and 503 with others. [`new`](Self::new) specifies all of it.
///
/// ```
/// use autonoe_testkit::model_server::Refusal;
/// use serde_json::json;
///
/// let busy = Refusal::rate_limited().retry_after(2);
/// let until = Refusal::rate_limited().retry_at("2026-11-15T14:00:00Z".parse()?);
/// let teapot = Refusal::new(418, "api_error", "short and stout");
/// let subscription = Refusal::new(429, "usage_limit_reached", "The usage limit has been reached")
///     .with_field("resets_at", json!(1_794_751_200));
/// # Ok::<(), jiff::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Refusal {
    pub(super) reason: RefusalReason,
    /// The message, if it differs from the vendor's.
    pub(super) message: Option<String>,
    /// The value of `retry-after`, in seconds.
    pub(super) retry_after: Option<u64>,
    /// Additional fields of the error.
    pub(super) fields: Map<String, Value>,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
}

/// The reason of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RefusalReason {
    /// A reason that the script specifies in the vendor's format.
    Explicit { status: StatusCode, kind: String },
    /// A reason that each vendor reports in its own format.
    Known(Cause),
}

/// A reason that each vendor reports in its own format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    RateLimited,
    QuotaSpent,
    Unauthorized,
    InvalidKey,
    Forbidden,
    CreditExhausted,
    PaymentRequired,
    ModelNotFound(String),
    ContextTooLong,
    ServerError,
    Overloaded,
    /// The script has no answer.
    NoAnswer,
    /// The server has no such path.
    NoSuchPath,
}

/// A refusal in the terms of a vendor, before it is encoded as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ErrorBody {
    pub(super) status: StatusCode,
    /// The vendor's type of the error.
    pub(super) kind: String,
    pub(super) message: String,
    /// Additional fields of the error.
    pub(super) fields: Map<String, Value>,
}

impl ErrorBody {
    pub(super) fn new(status: StatusCode, kind: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: kind.to_owned(),
            message: message.into(),
            fields: Map::new(),
        }
    }

    /// Adds a field to the error.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }
}

impl Refusal {
    /// Refuses with this status, error type and message.
    ///
    /// The type is the vendor's: `error.type` with Anthropic and OpenAI, `error.status` with
    /// Gemini.
    ///
    /// # Panics
    ///
    /// If `status` is not an error status: 400 to 599.
    pub fn new(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        let known = StatusCode::from_u16(status).ok();
        let status = known
            .filter(|status| status.is_client_error() || status.is_server_error())
            .unwrap_or_else(|| panic!("{status} is not the HTTP status of an error"));
        let kind = kind.into();
        Self::because(RefusalReason::Explicit { status, kind }).with_message(message)
    }

    /// 429: too many requests, without information about a subscription.
    pub fn rate_limited() -> Self {
        Self::known(Cause::RateLimited)
    }

    /// A long-term quota is exhausted: 429 `insufficient_quota` with OpenAI, 429 for the daily
    /// quota with Gemini, 400 for the monthly limit with Anthropic.
    pub fn quota_spent() -> Self {
        Self::known(Cause::QuotaSpent)
    }

    /// 401: the key or the token is unknown.
    pub fn unauthorized() -> Self {
        Self::known(Cause::Unauthorized)
    }

    /// The key is invalid: 400 with Gemini, 401 with others.
    pub fn invalid_key() -> Self {
        Self::known(Cause::InvalidKey)
    }

    /// 403: the account may not do this.
    pub fn forbidden() -> Self {
        Self::known(Cause::Forbidden)
    }

    /// The prepaid credit is exhausted: 400 with Anthropic, 429 with others.
    pub fn credit_exhausted() -> Self {
        Self::known(Cause::CreditExhausted)
    }

    /// 402, as sent by services compatible with OpenAI or Anthropic; 403 with Gemini, where billing
    /// is not enabled.
    pub fn payment_required() -> Self {
        Self::known(Cause::PaymentRequired)
    }

    /// 404: there is no such model.
    pub fn model_not_found(model: &str) -> Self {
        Self::known(Cause::ModelNotFound(model.to_owned()))
    }

    /// 400: the prompt is longer than the context of the model.
    pub fn context_too_long() -> Self {
        Self::known(Cause::ContextTooLong)
    }

    /// 500: an internal error of the service.
    pub fn server_error() -> Self {
        Self::known(Cause::ServerError)
    }

    /// The service is overloaded: 529 with Anthropic, 503 with others.
    pub fn overloaded() -> Self {
        Self::known(Cause::Overloaded)
    }

    /// Refuses in a way that programs show to their users and do not retry. A newer Claude Code
    /// retries six times on status 400, with less content in each request.
    pub(super) fn no_answer(reason: &str) -> Self {
        let message = format!("the scripted model server has no answer: {reason}");
        Self::known(Cause::NoAnswer).with_message(message)
    }

    pub(super) fn no_such_path(method: &str, path: &str) -> Self {
        let message = format!("the scripted model server has no {method} {path}");
        Self::known(Cause::NoSuchPath).with_message(message)
    }

    /// Sets the message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the number of seconds until a retry: in the header `retry-after`, or with Gemini in the
    /// details of the error.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.headers.remove(RETRY_AFTER);
        self.retry_after = Some(seconds);
        self
    }

    /// Sets the time of a retry, as a date in the header `retry-after`.
    ///
    /// # Panics
    ///
    /// If HTTP has no date for that time: it is before the year 0.
    #[must_use]
    pub fn retry_at(self, time: Timestamp) -> Self {
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&time);
        let date = date.unwrap_or_else(|error| panic!("HTTP has no date for {time}: {error}"));
        self.with_header("retry-after", &date)
    }

    /// Adds a field to the JSON of the error, or replaces it.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, value: Value) -> Self {
        self.fields.insert(name.into(), value);
        self
    }

    /// Adds a header to the response.
    ///
    /// # Panics
    ///
    /// If HTTP does not allow such a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = scripted_header(name, value);
        self.headers.insert(name, value);
        self
    }

    /// Sends this text instead of the JSON of an error, as a proxy might.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Returns the terms of the refusal: those of the script, and those of the vendor for the rest.
    pub(super) fn error_body(&self, of_vendor: impl FnOnce(&Cause) -> ErrorBody) -> ErrorBody {
        let mut words = match &self.reason {
            RefusalReason::Explicit { status, kind } => ErrorBody::new(*status, kind, ""),
            RefusalReason::Known(cause) => of_vendor(cause),
        };
        words.message = self.message.clone().unwrap_or(words.message);
        words.fields.extend(self.fields.clone());
        words
    }

    fn known(cause: Cause) -> Self {
        Self::because(RefusalReason::Known(cause))
    }

    fn because(reason: RefusalReason) -> Self {
        Self {
            reason,
            message: None,
            retry_after: None,
            fields: Map::new(),
            headers: HeaderMap::new(),
            body: None,
        }
    }
}
