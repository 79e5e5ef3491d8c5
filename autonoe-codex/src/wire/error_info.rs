//! Why a turn failed.

use serde::Deserialize;
use serde_json::Value;

/// What the program says of an error.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct TurnError {
    /// What went wrong, for people.
    pub message: String,
    /// What kind of error it is.
    pub codex_error_info: ErrorInfo,
    /// More for people.
    pub additional_details: Option<String>,
}

/// The kind of an error: a name, and the HTTP status where there is one.
///
/// ```
/// use autonoe_codex::wire::ErrorInfo;
///
/// let info: ErrorInfo = serde_json::from_str(r#"{"httpConnectionFailed":{"httpStatusCode":401}}"#)?;
///
/// assert_eq!((info.name.as_deref(), info.status), (Some("httpConnectionFailed"), Some(401)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Value")]
#[non_exhaustive]
pub struct ErrorInfo {
    /// Its name, for example `usageLimitExceeded`; `None` if it has none.
    pub name: Option<String>,
    /// The HTTP status of the answer that it comes from.
    pub status: Option<u16>,
}

impl ErrorInfo {
    /// An error with this name and no HTTP status.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            status: None,
        }
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }
}

impl From<Value> for ErrorInfo {
    fn from(value: Value) -> Self {
        match value {
            Value::String(name) => Self::named(name),
            Value::Object(fields) => match fields.into_iter().next() {
                Some((name, details)) => Self {
                    name: Some(name),
                    status: details["httpStatusCode"]
                        .as_u64()
                        .and_then(|status| status.try_into().ok()),
                },
                None => Self::default(),
            },
            _ => Self::default(),
        }
    }
}
