//! Answers with an HTTP status that says no.

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use serde_json::json;

use crate::model_server::headers::scripted_header;

use super::RateLimits;

/// An answer with an HTTP status that says no.
///
/// ```
/// use autonoe_testkit::model_server::anthropic::Refusal;
///
/// let busy = Refusal::rate_limited().retry_after(2);
/// let teapot = Refusal::new(418, "api_error", "short and stout");
/// ```
#[derive(Clone, Debug)]
pub struct Refusal {
    status: StatusCode,
    kind: String,
    message: String,
    headers: HeaderMap,
    body: Option<String>,
}

impl Refusal {
    /// Refuses with this status, type of error and sentence.
    ///
    /// # Panics
    ///
    /// `status` is not that of an error: 400 to 599.
    pub fn new(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        let known = StatusCode::from_u16(status).ok();
        let status = known
            .filter(|status| status.is_client_error() || status.is_server_error())
            .unwrap_or_else(|| panic!("{status} is not the HTTP status of an error"));
        Self {
            status,
            kind: kind.into(),
            message: message.into(),
            headers: HeaderMap::new(),
            body: None,
        }
    }

    /// 429: a limit of the subscription is spent, as the headers tell.
    pub fn quota(limits: &RateLimits) -> Self {
        let mut refusal = Self::rate_limited();
        refusal.headers.extend(limits.headers());
        refusal
    }

    /// 429: too many requests, with nothing about a subscription.
    pub fn rate_limited() -> Self {
        Self::new(429, "rate_limit_error", "too many requests")
    }

    /// 401: the key or the token is not known.
    pub fn unauthorized() -> Self {
        Self::new(401, "authentication_error", "invalid credentials")
    }

    /// 403: the account may not do this.
    pub fn forbidden() -> Self {
        Self::new(403, "permission_error", "the account may not do this")
    }

    /// 400: nothing is left of what was paid in advance.
    pub fn credit_exhausted() -> Self {
        // Programs know this case by its text.
        let message = "Your credit balance is too low to access the Anthropic API. \
                       Please go to Plans & Billing to upgrade or purchase credits.";
        Self::new(400, "invalid_request_error", message)
    }

    /// 404: there is no such model.
    pub fn model_not_found(model: &str) -> Self {
        Self::new(404, "not_found_error", format!("model: {model}"))
    }

    /// 500: something went wrong in the service.
    pub fn server_error() -> Self {
        Self::new(500, "api_error", "Internal server error")
    }

    /// 529: the service has too much to do.
    pub fn overloaded() -> Self {
        Self::new(529, "overloaded_error", "Overloaded")
    }

    /// Says something else.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Asks the client to come back after so many seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        self.with_header("retry-after", &seconds.to_string())
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

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    pub(super) fn body(&self, request_id: &str) -> Bytes {
        let error = || {
            json!({
                "type": "error",
                "error": {"type": self.kind, "message": self.message},
                "request_id": request_id,
            })
        };
        let body = self.body.clone();
        body.unwrap_or_else(|| error().to_string()).into()
    }
}
