//! A message of the scripted model.

use std::time::Duration;

use hyper::HeaderMap;
use serde_json::Value;

use crate::model_server::headers::scripted_header;

use super::{Place, RateLimits, StopReason, StreamFault, Usage};

/// How many characters one event of a stream carries, unless the script says otherwise.
const PIECE: usize = 40;

/// A message of the scripted model: blocks, and how they are sent.
///
/// It goes out as a stream of events or as one JSON document, as the request asks.
///
/// ```
/// use autonoe_testkit::model_server::anthropic::{Message, Usage};
/// use serde_json::json;
///
/// let message = Message::new()
///     .thinks("Where to begin?")
///     .says("I look around.")
///     .uses_tool("Bash", json!({"command": "ls"}))
///     .uses_tool("Read", json!({"file_path": "/srv/project/SPEC.md"}))
///     .with_usage(Usage::new(2_000, 60));
/// ```
#[derive(Clone, Debug)]
pub struct Message {
    pub(super) blocks: Vec<Block>,
    stop: Option<StopReason>,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) headers: HeaderMap,
    /// How long to wait between two events.
    pub(super) pace: Duration,
    pub(super) piece: usize,
    pub(super) fault: Option<(Place, StreamFault)>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Text(String),
    Thinking(String),
    ToolUse {
        /// Made from the number of the turn when there is none.
        id: Option<String>,
        name: String,
        input: ToolInput,
    },
    Raw(Value),
}

/// What a tool is called with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ToolInput {
    Json(Value),
    /// Text as it streams out, which need not be JSON.
    Text(String),
}

impl Message {
    /// Begins an empty message.
    pub fn new() -> Self {
        Self {
            blocks: Vec::new(),
            stop: None,
            usage: Usage::default(),
            model: None,
            headers: HeaderMap::new(),
            pace: Duration::ZERO,
            piece: PIECE,
            fault: None,
        }
    }

    /// Says something.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.block(Block::Text(text.into()))
    }

    /// Thinks something.
    #[must_use]
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.block(Block::Thinking(text.into()))
    }

    /// Calls a tool. Several calls in one message are made at once.
    #[must_use]
    pub fn uses_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.block(Block::ToolUse {
            id: None,
            name: name.into(),
            input: ToolInput::Json(input),
        })
    }

    /// Calls a tool under an id of the script's choice.
    #[must_use]
    pub fn uses_tool_as(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        input: Value,
    ) -> Self {
        self.block(Block::ToolUse {
            id: Some(id.into()),
            name: name.into(),
            input: ToolInput::Json(input),
        })
    }

    /// Calls a tool with an input that is streamed as it stands, even if it is no JSON.
    ///
    /// Where no stream is asked for, it must be JSON after all, or the request stays
    /// unanswered.
    #[must_use]
    pub fn uses_tool_with_text(self, name: impl Into<String>, input: impl Into<String>) -> Self {
        self.block(Block::ToolUse {
            id: None,
            name: name.into(),
            input: ToolInput::Text(input.into()),
        })
    }

    /// Adds a block of another kind, as the API would send it.
    #[must_use]
    pub fn with_raw_block(self, block: Value) -> Self {
        self.block(Block::Raw(block))
    }

    /// Stops for another reason. By default that is the use of tools, or the end of the turn.
    #[must_use]
    pub fn stops(mut self, reason: StopReason) -> Self {
        self.stop = Some(reason);
        self
    }

    /// Tells another usage.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Names another model than the one that was asked for.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Tells how much of a subscription is used.
    #[must_use]
    pub fn with_rate_limits(mut self, limits: &RateLimits) -> Self {
        self.headers.extend(limits.headers());
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

    /// Waits before each event of the stream but the first.
    #[must_use]
    pub fn slowly(mut self, between_events: Duration) -> Self {
        self.pace = between_events;
        self
    }

    /// Puts so many characters of a text into one event, at least one.
    #[must_use]
    pub fn in_pieces_of(mut self, characters: usize) -> Self {
        self.piece = characters.max(1);
        self
    }

    /// Lets something go wrong in the stream. A request without a stream gets the whole message.
    ///
    /// A place that the message does not have leaves the request unanswered.
    #[must_use]
    pub fn breaks(mut self, place: Place, fault: StreamFault) -> Self {
        self.fault = Some((place, fault));
        self
    }

    /// Returns why it stops.
    pub(super) fn stop_reason(&self) -> StopReason {
        let uses_tool = |block: &Block| matches!(block, Block::ToolUse { .. });
        match &self.stop {
            Some(reason) => reason.clone(),
            None if self.blocks.iter().any(uses_tool) => StopReason::ToolUse,
            None => StopReason::EndTurn,
        }
    }

    fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

impl Default for Message {
    fn default() -> Self {
        Self::new()
    }
}
