//! What the host says.

use std::path::PathBuf;

use autonoe_core::{Attachment, ThinkingBudget};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::RequestId;

/// The pictures that models take.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A request, a notice or an answer of the host.
///
/// ```
/// use autonoe_codex::wire::{Decision, Outgoing, RequestId};
///
/// let answer = Outgoing::approval(&RequestId::Number(3), Decision::Decline);
///
/// assert_eq!(answer.to_line(), "{\"id\":3,\"result\":{\"decision\":\"decline\"}}\n");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing(Value);

/// What is answered to a command or a patch. There is no answer that would hold for later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may happen.
    Accept,
    /// It may not, and the turn goes on.
    Decline,
}

/// What a conversation is begun or gone on with.
///
/// What guards it is the same each time: every command and patch is asked about, the host is who
/// is asked, and the program's own sandbox, which an approved command may leave, is not used.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ThreadSettings {
    /// Where it works.
    pub cwd: PathBuf,
    /// The model; `None` leaves the choice to the program.
    pub model: Option<String>,
    /// What the agent is told beside the program's own instructions.
    pub developer_instructions: Option<String>,
    /// Settings that a configuration file could have too.
    pub config: Value,
    /// Our tools, as the program takes them.
    pub tools: Vec<Value>,
    /// Whether nothing of it is kept.
    pub is_ephemeral: bool,
    /// How much the model thinks; `None` leaves it to the program.
    pub effort: Option<Effort>,
}

/// How much a model thinks.
///
/// ```
/// use autonoe_codex::wire::Effort;
/// use autonoe_core::ThinkingBudget;
///
/// // The program takes no number of tokens.
/// assert_eq!(Effort::from(ThinkingBudget::default()), Effort::Medium);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// Hardly, where the model knows that.
    Minimal,
    /// Little.
    Low,
    /// As much as is usual.
    Medium,
    /// Much.
    High,
    /// As much as it can, where the model knows that.
    XHigh,
}

impl Effort {
    /// Returns its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }
}

impl From<ThinkingBudget> for Effort {
    fn from(budget: ThinkingBudget) -> Self {
        match budget.tokens() {
            ..4096 => Self::Low,
            4096..16_384 => Self::Medium,
            _ => Self::High,
        }
    }
}

/// A conversation, and a turn of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    /// The conversation.
    pub thread: String,
    /// The turn.
    pub turn: String,
}

impl ThreadSettings {
    /// Appends `text` to the developer instructions.
    pub fn add_instructions(&mut self, text: Option<String>) {
        let parts: Vec<String> = self
            .developer_instructions
            .take()
            .into_iter()
            .chain(text)
            .collect();
        self.developer_instructions = (!parts.is_empty()).then(|| parts.join("\n\n"));
    }

    fn common(&self) -> Value {
        let mut params = json!({
            "cwd": self.cwd,
            "approvalPolicy": "untrusted",
            "approvalsReviewer": "user",
            "sandbox": "danger-full-access",
        });
        if let Some(model) = &self.model {
            params["model"] = json!(model);
        }
        if let Some(text) = &self.developer_instructions {
            params["developerInstructions"] = json!(text);
        }
        if self.config.is_object() {
            params["config"] = self.config.clone();
        }
        params
    }
}

impl Outgoing {
    /// Creates the first request of a connection.
    pub fn initialize(id: i64) -> Self {
        let params = json!({
            "clientInfo": {
                "name": "autonoe",
                "title": "Autonoe",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "capabilities": {"experimentalApi": true},
        });
        Self::request(id, "initialize", &params)
    }

    /// Creates the notification after the answer to `initialize`.
    pub fn initialized() -> Self {
        Self(json!({"method": "initialized"}))
    }

    /// Begins a conversation.
    pub fn start_thread(id: i64, settings: &ThreadSettings) -> Self {
        let mut params = settings.common();
        params["ephemeral"] = settings.is_ephemeral.into();
        if !settings.tools.is_empty() {
            params["dynamicTools"] = settings.tools.clone().into();
        }
        Self::request(id, "thread/start", &params)
    }

    /// Goes on with a conversation. The program remembers its tools, but not what guards it.
    pub fn resume_thread(id: i64, thread: &str, settings: &ThreadSettings) -> Self {
        let mut params = settings.common();
        params["threadId"] = thread.into();
        Self::request(id, "thread/resume", &params)
    }

    /// Begins a turn, with what guards it once more.
    pub fn start_turn(id: i64, thread: &str, text: &str, effort: Option<Effort>) -> Self {
        let mut params = json!({
            "threadId": thread,
            "input": [text_input(text)],
            "approvalPolicy": "untrusted",
            "approvalsReviewer": "user",
            "sandboxPolicy": {"type": "dangerFullAccess"},
        });
        if let Some(effort) = effort {
            params["effort"] = effort.name().into();
        }
        Self::request(id, "turn/start", &params)
    }

    /// Tells the agent something in the middle of its turn.
    pub fn steer(id: &RequestId, session: &Session, text: &str) -> Self {
        Self(json!({
            "id": id,
            "method": "turn/steer",
            "params": {
                "threadId": session.thread,
                "expectedTurnId": session.turn,
                "input": [text_input(text)],
            },
        }))
    }

    /// Stops a turn. A command that runs goes on.
    pub fn interrupt(id: i64, session: &Session) -> Self {
        let params = json!({"threadId": session.thread, "turnId": session.turn});
        Self::request(id, "turn/interrupt", &params)
    }

    /// Ends the commands that still run.
    pub fn clean_terminals(id: i64, thread: &str) -> Self {
        Self::request(
            id,
            "thread/backgroundTerminals/clean",
            &json!({"threadId": thread}),
        )
    }

    /// Answers whether a command or a patch may happen.
    pub fn approval(id: &RequestId, decision: Decision) -> Self {
        let decision = match decision {
            Decision::Accept => "accept",
            Decision::Decline => "decline",
        };
        Self::answer(id, &json!({"decision": decision}))
    }

    /// Answers whether a tool of an MCP server may be called.
    pub fn elicitation(id: &RequestId, decision: Decision) -> Self {
        let answer = match decision {
            Decision::Accept => json!({"action": "accept", "content": {}}),
            Decision::Decline => json!({"action": "decline"}),
        };
        Self::answer(id, &answer)
    }

    /// Answers with what a tool of ours gave back. Attachments that are no pictures are sent as text.
    ///
    /// ```
    /// use autonoe_codex::wire::{Outgoing, RequestId};
    /// use autonoe_core::Attachment;
    /// use serde_json::json;
    ///
    /// let files = [("image/png", [1, 2]), ("text/plain", *b"hi")].map(|(media_type, data)| Attachment {
    ///     media_type: media_type.to_owned(),
    ///     name: None,
    ///     data: data.as_slice().into(),
    /// });
    ///
    /// let answer = Outgoing::tool_output(&RequestId::Number(1), "done", &files, true);
    ///
    /// assert_eq!(
    ///     answer.as_value()["result"],
    ///     json!({
    ///         "contentItems": [
    ///             {"type": "inputText", "text": "done"},
    ///             {"type": "inputImage", "imageUrl": "data:image/png;base64,AQI="},
    ///             {"type": "inputText", "text": "attached file (text/plain):\nhi"},
    ///         ],
    ///         "success": true,
    ///     })
    /// );
    /// ```
    pub fn tool_output(
        id: &RequestId,
        text: &str,
        attachments: &[Attachment],
        success: bool,
    ) -> Self {
        let input_text = |text: &str| json!({"type": "inputText", "text": text});
        let mut items = vec![input_text(text)];
        items.extend(attachments.iter().map(|attachment| {
            let kind = attachment.media_type.to_ascii_lowercase();
            if !PICTURES.contains(&kind.as_str()) {
                return input_text(&attachment.to_text());
            }
            let data = STANDARD.encode(&attachment.data);
            json!({"type": "inputImage", "imageUrl": format!("data:{kind};base64,{data}")})
        }));
        Self::answer(id, &json!({"contentItems": items, "success": success}))
    }

    /// Refuses a request by its name, in the words that this request has for it. One that is not
    /// known is answered with an error.
    ///
    /// ```
    /// use autonoe_codex::wire::{Outgoing, RequestId};
    ///
    /// let refused = Outgoing::refusal(&RequestId::Number(1), "item/permissions/requestApproval");
    ///
    /// // Nothing is granted.
    /// assert_eq!(refused.to_line(), "{\"id\":1,\"result\":{\"permissions\":{}}}\n");
    /// ```
    pub fn refusal(id: &RequestId, method: &str) -> Self {
        let answer = match method {
            "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
                json!({"decision": "decline"})
            }
            "mcpServer/elicitation/request" => json!({"action": "decline"}),
            "item/permissions/requestApproval" => json!({"permissions": {}}),
            "item/tool/requestUserInput" => json!({"answers": {}}),
            "item/tool/call" => return Self::tool_output(id, "this is not allowed", &[], false),
            "execCommandApproval" | "applyPatchApproval" => {
                json!({"decision": {"denied": {"rejection": "this is not allowed"}}})
            }
            _ => return Self::not_known(id),
        };
        Self::answer(id, &answer)
    }

    /// Answers that the host does not know the request.
    pub fn not_known(id: &RequestId) -> Self {
        let error = json!({"code": -32601, "message": "this host does not know the request"});
        Self(json!({"id": id, "error": error}))
    }

    fn request(id: i64, method: &str, params: &Value) -> Self {
        Self(json!({"id": id, "method": method, "params": params}))
    }

    fn answer(id: &RequestId, result: &Value) -> Self {
        Self(json!({"id": id, "result": result}))
    }

    /// Returns it as a JSON value.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// Returns it as a whole line.
    pub fn to_line(&self) -> String {
        format!("{}\n", self.0)
    }
}

fn text_input(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
