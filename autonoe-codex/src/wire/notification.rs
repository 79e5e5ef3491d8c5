//! [`Notification`]s, the notifications of the program.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::{Item, TokenTotals};

/// A notification of the program.
#[derive(Clone, Debug, PartialEq)]
pub enum Notification {
    /// A turn has started.
    TurnStarted(Turn),
    /// A turn has ended.
    TurnCompleted(Turn),
    /// An item of a turn has started.
    ItemStarted(Item),
    /// An item of a turn is finished.
    ItemCompleted(Item),
    /// A chunk of a message of the agent.
    TextDelta(String),
    /// A chunk of a thought of the agent.
    ThinkingDelta(String),
    /// The token usage of the conversation.
    TokenUsage {
        /// The conversation.
        thread: String,
        /// The turn of the report; when a conversation is resumed, an earlier one.
        turn: String,
        /// All turns together.
        total: TokenTotals,
        /// The last call of the model.
        last: TokenTotals,
    },
    /// The usage of the subscription.
    RateLimits(RateLimits),
    /// An error.
    Error(RetryableError),
    /// A warning for the user, for example about an unknown setting.
    Warning(String),
    /// An MCP server has started.
    ServerReady {
        /// Its name.
        name: String,
    },
    /// An MCP server did not start.
    ServerFailed {
        /// Its name.
        name: String,
        /// The error message.
        error: String,
    },
    /// Any other notification, unchanged.
    Other {
        /// Its name.
        method: String,
        /// The parameters.
        params: Value,
    },
}

/// A turn and its status.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// The status.
    pub status: TurnStatus,
    /// The error of a failed turn.
    pub error: Option<TurnError>,
}

/// The status of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TurnStatus {
    /// It is running.
    InProgress,
    /// The agent finished it.
    Completed,
    /// It was interrupted.
    Interrupted,
    /// It failed.
    Failed,
    /// An unknown status.
    #[default]
    #[serde(other)]
    Unknown,
}

/// An error, and whether the program retries.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryableError {
    /// The error.
    pub error: TurnError,
    /// Whether the program retries on its own. An error does not end a turn.
    pub will_retry: bool,
}

impl Notification {
    /// Parses a notification. An unknown one, or one with an unknown format, is kept unchanged.
    pub fn parse(method: &str, params: &Value) -> Self {
        let known = match method {
            "turn/started" => Turn::deserialize(&params["turn"])
                .map(Self::TurnStarted)
                .ok(),
            "turn/completed" => Turn::deserialize(&params["turn"])
                .map(Self::TurnCompleted)
                .ok(),
            "item/started" => params
                .get("item")
                .map(|item| Self::ItemStarted(Item::parse(item))),
            "item/completed" => params
                .get("item")
                .map(|item| Self::ItemCompleted(Item::parse(item))),
            "item/agentMessage/delta" => text(&params["delta"]).map(Self::TextDelta),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                text(&params["delta"]).map(Self::ThinkingDelta)
            }
            "thread/tokenUsage/updated" => token_usage(params),
            "account/rateLimits/updated" => RateLimits::deserialize(&params["rateLimits"])
                .map(Self::RateLimits)
                .ok(),
            "warning" => text(&params["message"]).map(Self::Warning),
            "configWarning" => text(&params["summary"]).map(Self::Warning),
            "model/rerouted" => model_fallback(params).map(Self::Warning),
            "mcpServer/startupStatus/updated" => server_started(params),
            "error" => RetryableError::deserialize(params).map(Self::Error).ok(),
            _ => None,
        };
        known.unwrap_or_else(|| Self::Other {
            method: method.to_owned(),
            params: params.clone(),
        })
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Parses a report that an MCP server has started or failed.
fn server_started(params: &Value) -> Option<Notification> {
    let name = text(&params["name"])?;
    match params["status"].as_str()? {
        "ready" => Some(Notification::ServerReady { name }),
        "failed" | "cancelled" => {
            let error = text(&params["error"]).unwrap_or_else(|| "it does not start".to_owned());
            Some(Notification::ServerFailed { name, error })
        }
        _ => None,
    }
}

fn model_fallback(params: &Value) -> Option<String> {
    let (from, to) = (params["fromModel"].as_str()?, params["toModel"].as_str()?);
    Some(format!("the model {to} answers instead of {from}"))
}

fn token_usage(params: &Value) -> Option<Notification> {
    let usage = params.get("tokenUsage")?;
    Some(Notification::TokenUsage {
        thread: params["threadId"].as_str()?.to_owned(),
        turn: params["turnId"].as_str()?.to_owned(),
        total: TokenTotals::deserialize(&usage["total"]).ok()?,
        last: TokenTotals::deserialize(&usage["last"]).ok()?,
    })
}

/// Details of an error.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnError {
    /// The error message.
    pub message: String,
    /// The kind of error.
    pub codex_error_info: ErrorInfo,
    /// Further details for users.
    pub additional_details: Option<String>,
}

/// The kind of an error: a name, and the HTTP status if there is one.
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
pub struct ErrorInfo {
    /// Its name, for example `usageLimitExceeded`; `None` if it has none.
    pub name: Option<String>,
    /// The HTTP status of the failed request.
    pub status: Option<u16>,
}

impl ErrorInfo {
    /// Creates the kind with this name and no HTTP status.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            status: None,
        }
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

/// The usage of a subscription.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RateLimits {
    /// The shorter window.
    pub primary: Option<Window>,
    /// The longer window.
    pub secondary: Option<Window>,
}

/// The usage of one window.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Window {
    /// The usage in percent.
    pub used_percent: f64,
    /// The length of the window in minutes.
    pub window_duration_mins: Option<i64>,
    /// The time of its reset, in seconds of Unix time.
    pub resets_at: Option<i64>,
}

impl RateLimits {
    /// Returns the reported windows.
    pub fn windows(&self) -> impl Iterator<Item = &Window> {
        [&self.primary, &self.secondary].into_iter().flatten()
    }

    /// Returns when all exhausted windows have reset; `None` if none is exhausted, or if the time
    /// is unknown.
    ///
    /// ```
    /// use autonoe_codex::wire::RateLimits;
    ///
    /// let limits: RateLimits = serde_json::from_str(
    ///     r#"{"primary": {"usedPercent": 100, "resetsAt": 1794776447}, "secondary": {"usedPercent": 40}}"#,
    /// )?;
    ///
    /// assert_eq!(limits.resets_at(), Some("2026-11-15T21:00:47Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resets_at(&self) -> Option<Timestamp> {
        let spent = self.windows().filter(|window| window.is_spent());
        spent.filter_map(Window::resets_at).max()
    }
}

impl Window {
    /// Returns whether the window is exhausted.
    pub fn is_spent(&self) -> bool {
        self.used_percent >= 100.0
    }

    /// Returns the time of its reset.
    pub fn resets_at(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.resets_at?).ok()
    }

    /// Returns its name, for example `five_hour`.
    pub fn name(&self) -> Option<String> {
        Some(match self.window_duration_mins? {
            300 => "five_hour".to_owned(),
            10_080 => "seven_day".to_owned(),
            minutes => format!("{minutes}_minutes"),
        })
    }
}
