//! What the program tells by itself.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::{Item, TokenTotals};

/// Something that the program tells.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A turn begins.
    TurnStarted(Turn),
    /// A turn is over.
    TurnCompleted(Turn),
    /// A part of a turn begins.
    ItemStarted(Item),
    /// A part of a turn is over.
    ItemCompleted(Item),
    /// A piece of what the agent says.
    TextDelta {
        /// The message that it belongs to.
        item: String,
        /// The piece.
        delta: String,
    },
    /// A piece of what the agent thinks.
    ThinkingDelta {
        /// The thought that it belongs to.
        item: String,
        /// The piece.
        delta: String,
    },
    /// What the conversation has used.
    TokenUsage {
        /// The conversation.
        thread: String,
        /// The turn that it is about; that of an earlier one when a conversation is resumed.
        turn: String,
        /// All turns together.
        total: TokenTotals,
        /// The last call of the model.
        last: TokenTotals,
    },
    /// How much of the subscription is used.
    RateLimits(RateLimits),
    /// Something went wrong.
    Error(Retried),
    /// Something that a person should know, such as a setting that is not known.
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
        /// Why.
        error: String,
    },
    /// Anything else, as it came.
    Other {
        /// Its name.
        method: String,
        /// What it says.
        params: Value,
    },
}

/// A turn, and how it stands.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// How it stands.
    pub status: TurnStatus,
    /// Why it failed.
    pub error: Option<TurnError>,
}

/// How a turn stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum TurnStatus {
    /// It is under way.
    InProgress,
    /// The agent finished it.
    Completed,
    /// It was stopped.
    Interrupted,
    /// It failed.
    Failed,
    /// What this means is not known.
    #[default]
    #[serde(other)]
    Unknown,
}

/// An error, and whether the program tries again.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Retried {
    /// What went wrong.
    pub error: TurnError,
    /// Whether the program tries again by itself. An error is not the end of a turn.
    pub will_retry: bool,
}

impl Notice {
    /// Reads a notice. One that is not known, or not in a known shape, is kept as it is.
    pub fn read(method: &str, params: &Value) -> Self {
        let known = match method {
            "turn/started" => Turn::deserialize(&params["turn"])
                .map(Self::TurnStarted)
                .ok(),
            "turn/completed" => Turn::deserialize(&params["turn"])
                .map(Self::TurnCompleted)
                .ok(),
            "item/started" => params
                .get("item")
                .map(|item| Self::ItemStarted(Item::read(item))),
            "item/completed" => params
                .get("item")
                .map(|item| Self::ItemCompleted(Item::read(item))),
            "item/agentMessage/delta" => {
                delta(params).map(|(item, delta)| Self::TextDelta { item, delta })
            }
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                delta(params).map(|(item, delta)| Self::ThinkingDelta { item, delta })
            }
            "thread/tokenUsage/updated" => token_usage(params),
            "account/rateLimits/updated" => RateLimits::deserialize(&params["rateLimits"])
                .map(Self::RateLimits)
                .ok(),
            "warning" => text(&params["message"]).map(Self::Warning),
            "configWarning" => text(&params["summary"]).map(Self::Warning),
            "model/rerouted" => rerouted(params).map(Self::Warning),
            "mcpServer/startupStatus/updated" => server_started(params),
            "error" => Retried::deserialize(params).map(Self::Error).ok(),
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

/// Reads the end of the start of an MCP server.
fn server_started(params: &Value) -> Option<Notice> {
    let name = text(&params["name"])?;
    match params["status"].as_str()? {
        "ready" => Some(Notice::ServerReady { name }),
        "failed" | "cancelled" => {
            let error = text(&params["error"]).unwrap_or_else(|| "it does not start".to_owned());
            Some(Notice::ServerFailed { name, error })
        }
        _ => None,
    }
}

fn rerouted(params: &Value) -> Option<String> {
    let (from, to) = (params["fromModel"].as_str()?, params["toModel"].as_str()?);
    Some(format!("{to} answers in place of {from}"))
}

fn delta(params: &Value) -> Option<(String, String)> {
    let text = |name: &str| params[name].as_str().map(str::to_owned);
    Some((text("itemId")?, text("delta")?))
}

fn token_usage(params: &Value) -> Option<Notice> {
    let usage = params.get("tokenUsage")?;
    Some(Notice::TokenUsage {
        thread: params["threadId"].as_str()?.to_owned(),
        turn: params["turnId"].as_str()?.to_owned(),
        total: TokenTotals::deserialize(&usage["total"]).ok()?,
        last: TokenTotals::deserialize(&usage["last"]).ok()?,
    })
}

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

/// How much of a subscription is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct RateLimits {
    /// The shorter window.
    pub primary: Option<Window>,
    /// The longer window.
    pub secondary: Option<Window>,
}

/// How much of one window is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Window {
    /// How much, in percent.
    pub used_percent: f64,
    /// How long it is.
    pub window_duration_mins: Option<i64>,
    /// When it begins anew, in seconds of Unix time.
    pub resets_at: Option<i64>,
}

impl RateLimits {
    /// Returns the windows that there are.
    pub fn windows(&self) -> impl Iterator<Item = &Window> {
        [&self.primary, &self.secondary].into_iter().flatten()
    }

    /// Returns when everything that is spent comes back; `None` if nothing is, or if it is not said.
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
    /// Tells whether nothing is left.
    pub fn is_spent(&self) -> bool {
        self.used_percent >= 100.0
    }

    /// Returns when it begins anew.
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
