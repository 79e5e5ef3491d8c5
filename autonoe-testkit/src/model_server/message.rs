//! A message of the scripted model.

use std::time::Duration;

use bytes::Bytes;
use hyper::HeaderMap;
use serde_json::Value;

use super::event::Event;
use super::headers::scripted_header;
use super::pieces::{Block, Content, ToolInput};
use super::{Place, StopReason, StreamFault, Usage};

/// How many characters one event of a stream carries, unless the script says otherwise.
const PIECE: usize = 40;

/// A message of the scripted model: blocks, and how they are sent.
///
/// It goes out as a stream of events or as one JSON document, as the request asks.
///
/// ```
/// use autonoe_testkit::model_server::{Message, Usage};
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
    /// How many bytes go out at once, whatever they are a part of.
    packet: Option<usize>,
    comments: Comments,
}

/// Whether a stream says something that is no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comments {
    None,
    BeforeEvents,
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
            packet: None,
            comments: Comments::None,
        }
    }

    /// Says something.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.block(Content::Text(text.into()))
    }

    /// Thinks something.
    #[must_use]
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.block(Content::Thinking(text.into()))
    }

    /// Calls a tool. Several calls in one message are made at once.
    #[must_use]
    pub fn uses_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.block(Content::ToolUse {
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
        self.block(Content::ToolUse {
            id: Some(id.into()),
            name: name.into(),
            input: ToolInput::Json(input),
        })
    }

    /// Calls a tool with an input that is sent as it stands, even if it is no JSON.
    ///
    /// A request stays unanswered where the vendor cannot send such an input: Anthropic
    /// without a stream, Gemini never.
    #[must_use]
    pub fn uses_tool_with_text(self, name: impl Into<String>, input: impl Into<String>) -> Self {
        self.block(Content::ToolUse {
            id: None,
            name: name.into(),
            input: ToolInput::Text(input.into()),
        })
    }

    /// Signs the last part, so that a client has to give the signature back with it.
    ///
    /// Anthropic signs what was thought, the Responses API encrypts it, Gemini signs whatever
    /// it likes. What the script does not sign has a signature where the vendor always has one.
    ///
    /// # Panics
    ///
    /// There is no part yet.
    #[must_use]
    pub fn signed(mut self, signature: impl Into<String>) -> Self {
        let last = self.blocks.last_mut();
        let last = last.unwrap_or_else(|| panic!("an empty message has no part to sign"));
        last.signature = Some(signature.into());
        self
    }

    /// Adds a part of another kind, as the API would send it: a block of the Messages API, an
    /// output item of the Responses API, a part of Gemini, fields of the message (in a stream:
    /// of one `delta`) in Chat Completions.
    #[must_use]
    pub fn with_raw_block(self, block: Value) -> Self {
        self.block(Content::Raw(block))
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

    /// Sends the stream in packets of so many bytes, at least one, wherever that cuts it.
    ///
    /// [`slowly`](Self::slowly) waits between two packets then.
    #[must_use]
    pub fn in_packets_of(mut self, bytes: usize) -> Self {
        self.packet = Some(bytes.max(1));
        self
    }

    /// Says a comment before each event of the stream, as services do to keep it alive.
    #[must_use]
    pub fn with_comments(mut self) -> Self {
        self.comments = Comments::BeforeEvents;
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
        let uses_tool = |block: &Block| matches!(block.content, Content::ToolUse { .. });
        match &self.stop {
            Some(reason) => reason.clone(),
            None if self.blocks.iter().any(uses_tool) => StopReason::ToolUse,
            None => StopReason::EndTurn,
        }
    }

    /// Returns the events as they go over the connection.
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

impl Default for Message {
    fn default() -> Self {
        Self::new()
    }
}
