//! Answers with an HTTP status that says no.

use hyper::header::RETRY_AFTER;
use hyper::{HeaderMap, StatusCode};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use serde_json::{Map, Value};

use super::headers::scripted_header;

/// An answer with an HTTP status that says no.
///
/// The vendor of a server chooses status and words: [`overloaded`](Self::overloaded) is 529 with
/// Anthropic and 503 with others. [`new`](Self::new) says all of it.
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
    pub(super) why: Why,
    /// What it says, if that is not what the vendor says.
    pub(super) message: Option<String>,
    /// After how many seconds the client may come back.
    pub(super) retry_after: Option<u64>,
    /// What the error has beside its usual fields.
    pub(super) fields: Map<String, Value>,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
}

/// Why a server says no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// For a reason that the script tells in the words of the vendor.
    Told { status: StatusCode, kind: String },
    /// For a reason that each vendor has its own words for.
    Known(Cause),
}

/// A reason to say no that each vendor has its own words for.
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
    /// The server has nothing at such a path.
    NoSuchPath,
}

/// A refusal in the words of a vendor, before they are put into its JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) status: StatusCode,
    /// What the vendor calls the type of the error.
    pub(super) kind: String,
    pub(super) message: String,
    /// What the error has beside its usual fields.
    pub(super) fields: Map<String, Value>,
}

impl Words {
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
    /// Refuses with this status, type of error and sentence.
    ///
    /// The type is what the vendor calls so: `error.type` with Anthropic and OpenAI,
    /// `error.status` with Gemini.
    ///
    /// # Panics
    ///
    /// `status` is not that of an error: 400 to 599.
    pub fn new(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        let known = StatusCode::from_u16(status).ok();
        let status = known
            .filter(|status| status.is_client_error() || status.is_server_error())
            .unwrap_or_else(|| panic!("{status} is not the HTTP status of an error"));
        let kind = kind.into();
        Self::because(Why::Told { status, kind }).with_message(message)
    }

    /// 429: too many requests, with nothing about a subscription.
    pub fn rate_limited() -> Self {
        Self::known(Cause::RateLimited)
    }

    /// The quota of a longer time is spent: 429 `insufficient_quota` with OpenAI, 429 for the
    /// quota of a day with Gemini, 400 for the limit of a month with Anthropic.
    pub fn quota_spent() -> Self {
        Self::known(Cause::QuotaSpent)
    }

    /// 401: the key or the token is not known.
    pub fn unauthorized() -> Self {
        Self::known(Cause::Unauthorized)
    }

    /// The key is not valid: 400 with Gemini, 401 with others.
    pub fn invalid_key() -> Self {
        Self::known(Cause::InvalidKey)
    }

    /// 403: the account may not do this.
    pub fn forbidden() -> Self {
        Self::known(Cause::Forbidden)
    }

    /// Nothing is left of what was paid in advance: 400 with Anthropic, 429 with others.
    pub fn credit_exhausted() -> Self {
        Self::known(Cause::CreditExhausted)
    }

    /// 402, as services say it that speak as OpenAI or Anthropic do; 403 with Gemini, where
    /// billing is not enabled.
    pub fn payment_required() -> Self {
        Self::known(Cause::PaymentRequired)
    }

    /// 404: there is no such model.
    pub fn model_not_found(model: &str) -> Self {
        Self::known(Cause::ModelNotFound(model.to_owned()))
    }

    /// 400: the prompt is longer than the model can read.
    pub fn context_too_long() -> Self {
        Self::known(Cause::ContextTooLong)
    }

    /// 500: something went wrong in the service.
    pub fn server_error() -> Self {
        Self::known(Cause::ServerError)
    }

    /// The service has too much to do: 529 with Anthropic, 503 with others.
    pub fn overloaded() -> Self {
        Self::known(Cause::Overloaded)
    }

    /// Refuses in a way that programs show to their users and do not try again. A newer
    /// Claude Code asks six times where the status is 400, with less in each request.
    pub(super) fn no_answer(reason: &str) -> Self {
        let message = format!("the scripted model server has no answer: {reason}");
        Self::known(Cause::NoAnswer).with_message(message)
    }

    pub(super) fn no_such_path(method: &str, path: &str) -> Self {
        let message = format!("the scripted model server has no {method} {path}");
        Self::known(Cause::NoSuchPath).with_message(message)
    }

    /// Says something else.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Asks the client to come back after so many seconds: in the header `retry-after`, or in
    /// the details of the error, where Gemini has it.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.headers.remove(RETRY_AFTER);
        self.retry_after = Some(seconds);
        self
    }

    /// Asks the client to come back at a time, as a date in the header `retry-after`.
    ///
    /// # Panics
    ///
    /// HTTP has no date for that time: it is before the year 0.
    #[must_use]
    pub fn retry_at(self, time: Timestamp) -> Self {
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&time);
        let date = date.unwrap_or_else(|error| panic!("HTTP has no date for {time}: {error}"));
        self.with_header("retry-after", &date)
    }

    /// Adds a field to the JSON of the error, or says it otherwise.
    #[must_use]
    pub fn with_field(mut self, name: impl Into<String>, value: Value) -> Self {
        self.fields.insert(name.into(), value);
        self
    }

    /// Adds a header to the answer.
    ///
    /// # Panics
    ///
    /// HTTP does not allow such a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = scripted_header(name, value);
        self.headers.insert(name, value);
        self
    }

    /// Sends this text instead of the JSON of an error, as a proxy on the way might.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Puts it into words: those of the script, and those of the vendor for the rest.
    pub(super) fn words(&self, of_vendor: impl FnOnce(&Cause) -> Words) -> Words {
        let mut words = match &self.why {
            Why::Told { status, kind } => Words::new(*status, kind, ""),
            Why::Known(cause) => of_vendor(cause),
        };
        words.message = self.message.clone().unwrap_or(words.message);
        words.fields.extend(self.fields.clone());
        words
    }

    fn known(cause: Cause) -> Self {
        Self::because(Why::Known(cause))
    }

    fn because(why: Why) -> Self {
        Self {
            why,
            message: None,
            retry_after: None,
            fields: Map::new(),
            headers: HeaderMap::new(),
            body: None,
        }
    }
}
