//! A message of the scripted model, with its stop reason and token usage.

use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use serde_json::Value;

use super::headers::scripted_header;
use super::streamed_body::{Block, Content, Event, ToolInput};
use super::{FaultPosition, StreamFault};

/// Default number of characters in one event of a stream.
const PIECE: usize = 40;

/// A message of the scripted model: blocks, and how they are sent.
///
/// It is sent as a stream of events or as one JSON document, depending on the request.
///
/// ```
/// use autonoe_testkit::model_server::{ScriptedMessage, Usage};
/// use serde_json::json;
///
/// let message = ScriptedMessage::new()
///     .thinks("Where to begin?")
///     .says("I look around.")
///     .uses_tool("Bash", json!({"command": "ls"}))
///     .uses_tool("Read", json!({"file_path": "/srv/project/SPEC.md"}))
///     .with_usage(Usage::new(2_000, 60));
/// ```
#[derive(Clone, Debug)]
pub struct ScriptedMessage {
    pub(super) blocks: Vec<Block>,
    stop: Option<MessageStopReason>,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) headers: HeaderMap,
    /// The delay between two events.
    pub(super) pace: Duration,
    pub(super) piece: usize,
    pub(super) fault: Option<(FaultPosition, StreamFault)>,
    /// The number of bytes per packet, regardless of event boundaries.
    packet: Option<usize>,
    comments: Comments,
}

/// Whether a stream contains comments, which are not events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comments {
    None,
    BeforeEvents,
}

impl ScriptedMessage {
    /// Creates an empty message.
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
            packet: None,
            comments: Comments::None,
        }
    }

    /// Adds a text.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.block(Content::Text(text.into()))
    }

    /// Adds reasoning.
    #[must_use]
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.block(Content::Thinking(text.into()))
    }

    /// Adds a tool call. Several calls in one message are parallel.
    #[must_use]
    pub fn uses_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.block(Content::ToolUse {
            id: None,
            name: name.into(),
            input: ToolInput::Json(input),
        })
    }

    /// Adds a tool call with an id chosen by the script.
    #[must_use]
    pub fn uses_tool_as(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        input: Value,
    ) -> Self {
        self.block(Content::ToolUse {
            id: Some(id.into()),
            name: name.into(),
            input: ToolInput::Json(input),
        })
    }

    /// Adds a tool call whose input is sent verbatim, even if it is not JSON.
    ///
    /// The request stays unanswered if the vendor cannot send such an input: Anthropic without a
    /// stream, Gemini always.
    #[must_use]
    pub fn uses_tool_with_text(self, name: impl Into<String>, input: impl Into<String>) -> Self {
        self.block(Content::ToolUse {
            id: None,
            name: name.into(),
            input: ToolInput::Text(input.into()),
        })
    }

    /// Signs the last part, so that a client has to return the signature with it.
    ///
    /// Anthropic signs reasoning, the Responses API encrypts it, and Gemini may sign any part.
    /// Parts that the script does not sign have a signature where the vendor always sends one.
    ///
    /// # Panics
    ///
    /// If there is no part yet.
    #[must_use]
    pub fn signed(mut self, signature: impl Into<String>) -> Self {
        let last = self.blocks.last_mut();
        let last = last.unwrap_or_else(|| panic!("an empty message has no part to sign"));
        last.signature = Some(signature.into());
        self
    }

    /// Adds a part of another kind in the format of the API: a block of the Messages API, an output
    /// item of the Responses API, a part of Gemini, fields of the message (in a stream: of one
    /// `delta`) in Chat Completions.
    #[must_use]
    pub fn with_raw_block(self, block: Value) -> Self {
        self.block(Content::Raw(block))
    }

    /// Sets the stop reason. By default it is the use of tools, or the end of the turn.
    #[must_use]
    pub fn stops(mut self, reason: MessageStopReason) -> Self {
        self.stop = Some(reason);
        self
    }

    /// Sets the reported usage.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Reports another model than the requested one.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
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

    /// Waits before each event of the stream except the first.
    #[must_use]
    pub fn slowly(mut self, between_events: Duration) -> Self {
        self.pace = between_events;
        self
    }

    /// Puts this many characters of a text into one event, at least one.
    #[must_use]
    pub fn in_pieces_of(mut self, characters: usize) -> Self {
        self.piece = characters.max(1);
        self
    }

    /// Sends the stream in packets of this many bytes, at least one, regardless of event
    /// boundaries.
    ///
    /// [`slowly`](Self::slowly) then waits between two packets.
    #[must_use]
    pub fn in_packets_of(mut self, bytes: usize) -> Self {
        self.packet = Some(bytes.max(1));
        self
    }

    /// Sends a comment before each event of the stream, like services do to keep it alive.
    #[must_use]
    pub fn with_comments(mut self) -> Self {
        self.comments = Comments::BeforeEvents;
        self
    }

    /// Injects a fault into the stream. A request without a stream gets the complete message.
    ///
    /// A place that the message does not have leaves the request unanswered.
    #[must_use]
    pub fn breaks(mut self, place: FaultPosition, fault: StreamFault) -> Self {
        self.fault = Some((place, fault));
        self
    }

    /// Returns the stop reason.
    pub(super) fn stop_reason(&self) -> MessageStopReason {
        let uses_tool = |block: &Block| matches!(block.content, Content::ToolUse { .. });
        match &self.stop {
            Some(reason) => reason.clone(),
            None if self.blocks.iter().any(uses_tool) => MessageStopReason::ToolUse,
            None => MessageStopReason::EndTurn,
        }
    }

    /// Encodes the events for the connection.
    pub(super) fn packets(&self, events: &[Event], line_end: &str) -> Vec<Bytes> {
        let comment = match self.comments {
            Comments::None => String::new(),
            Comments::BeforeEvents => format!(": keep-alive{line_end}{line_end}"),
        };
        let framed = events.iter().map(|event| event.frame(line_end));
        let pieces: Vec<Bytes> = match comment.as_str() {
            "" => framed.collect(),
            comment => framed
                .map(|frame| Bytes::from([comment.as_bytes(), &frame].concat()))
                .collect(),
        };
        match self.packet {
            Some(bytes) => {
                let whole = pieces.concat();
                whole.chunks(bytes).map(Bytes::copy_from_slice).collect()
            }
            None => pieces,
        }
    }

    fn block(mut self, content: Content) -> Self {
        self.blocks.push(Block {
            content,
            signature: None,
        });
        self
    }
}

impl Default for ScriptedMessage {
    fn default() -> Self {
        Self::new()
    }
}

/// The reason why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageStopReason {
    /// The answer is complete: `end_turn`.
    EndTurn,
    /// The model waits for the results of tools: `tool_use`.
    ToolUse,
    /// The answer reached the limit of the request: `max_tokens`.
    MaxTokens,
    /// The answer reached a stop sequence of the request: `stop_sequence`.
    StopSequence,
    /// The model wants to continue in another request: `pause_turn`.
    PauseTurn,
    /// The model refuses to answer: `refusal`.
    Refusal,
    /// Any other reason.
    Other(String),
}

impl MessageStopReason {
    /// Returns the value in the Messages API.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::Other(word) => word,
        }
    }
}

/// The token usage of a message, from which costs are computed.
///
/// Tokens read from or written to a cache are not included in the input. Vendors that include them
/// in their input report the sum.
///
/// ```
/// use autonoe_testkit::model_server::Usage;
///
/// let usage = Usage::new(1_200, 80)
///     .with_cache_read(40_000)
///     .with_cache_creation(500)
///     .with_reasoning(30);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_creation: u64,
    pub(super) cache_read: u64,
    pub(super) reasoning: u64,
}

impl Usage {
    /// Creates a usage without a cache.
    pub const fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            cache_creation: 0,
            cache_read: 0,
            reasoning: 0,
        }
    }

    /// Adds tokens written to the cache.
    #[must_use]
    pub const fn with_cache_creation(mut self, tokens: u64) -> Self {
        self.cache_creation = tokens;
        self
    }

    /// Adds tokens read from the cache.
    #[must_use]
    pub const fn with_cache_read(mut self, tokens: u64) -> Self {
        self.cache_read = tokens;
        self
    }

    /// Sets how many of the output tokens are reasoning.
    #[must_use]
    pub const fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning = tokens;
        self
    }

    /// Returns the input tokens, including those of the cache.
    pub(super) const fn whole_input(self) -> u64 {
        self.input + self.cache_creation + self.cache_read
    }
}

/// A hundred input tokens, twenty output tokens.
impl Default for Usage {
    fn default() -> Self {
        Self::new(100, 20)
    }
}
