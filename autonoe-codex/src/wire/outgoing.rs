//! [`Outgoing`] messages of the host.

use std::path::PathBuf;

use autonoe_core::tool::Attachment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::RequestId;
use crate::Effort;

/// The image types that models accept.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A request, a notification or an answer of the host.
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

/// The decision about a command or a patch. There is none that would apply to later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call is allowed.
    Accept,
    /// The call is refused, and the turn continues.
    Decline,
}

/// The settings of a new or resumed conversation.
///
/// The permission settings are always the same: the program requests approval of every command and
/// patch from the host, and its own sandbox, which an approved command may leave, is not used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadSettings {
    /// The working directory.
    pub cwd: PathBuf,
    /// The model; `None` leaves the choice to the program.
    pub model: Option<String>,
    /// Instructions for the agent in addition to the program's own.
    pub developer_instructions: Option<String>,
    /// Settings in the format of a configuration file.
    pub config: Value,
    /// Our tools, in the format of the program.
    pub tools: Vec<Value>,
    /// Whether the conversation is not stored.
    pub is_ephemeral: bool,
    /// The reasoning effort of the model; `None` leaves it to the program.
    pub effort: Option<Effort>,
}

/// A conversation, and a turn of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnRef {
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

    /// Starts a conversation.
    pub fn start_thread(id: i64, settings: &ThreadSettings) -> Self {
        let mut params = settings.common();
        params["ephemeral"] = settings.is_ephemeral.into();
        if !settings.tools.is_empty() {
            params["dynamicTools"] = settings.tools.clone().into();
        }
        Self::request(id, "thread/start", &params)
    }

    /// Resumes a conversation. The program remembers its tools, but not its permission settings.
    pub fn resume_thread(id: i64, thread: &str, settings: &ThreadSettings) -> Self {
        let mut params = settings.common();
        params["threadId"] = thread.into();
        Self::request(id, "thread/resume", &params)
    }

    /// Starts a turn, and repeats the permission settings.
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

    /// Sends a message to the agent during its turn.
    pub fn steer(id: &RequestId, session: &TurnRef, text: &str) -> Self {
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

    /// Interrupts a turn. A running command continues.
    pub fn interrupt(id: i64, session: &TurnRef) -> Self {
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

    /// Answers an approval request for a command or a patch.
    pub fn approval(id: &RequestId, decision: Decision) -> Self {
        let decision = match decision {
            Decision::Accept => "accept",
            Decision::Decline => "decline",
        };
        Self::answer(id, &json!({"decision": decision}))
    }

    /// Answers an approval request for a call of an MCP server's tool.
    pub fn elicitation(id: &RequestId, decision: Decision) -> Self {
        let answer = match decision {
            Decision::Accept => json!({"action": "accept", "content": {}}),
            Decision::Decline => json!({"action": "decline"}),
        };
        Self::answer(id, &answer)
    }

    /// Answers with the output of one of our tools. Attachments that are not images are sent as
    /// text.
    ///
    /// ```
    /// use autonoe_codex::wire::{Outgoing, RequestId};
    /// use autonoe_core::tool::Attachment;
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

    /// Refuses a request by its method, in the format of that request. An unknown one is answered
    /// with an error.
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
            _ => return Self::method_not_found(id),
        };
        Self::answer(id, &answer)
    }

    /// Answers that the host does not know the request.
    pub fn method_not_found(id: &RequestId) -> Self {
        let error = json!({"code": -32601, "message": "this host does not support the request"});
        Self(json!({"id": id, "error": error}))
    }

    fn request(id: i64, method: &str, params: &Value) -> Self {
        Self(json!({"id": id, "method": method, "params": params}))
    }

    fn answer(id: &RequestId, result: &Value) -> Self {
        Self(json!({"id": id, "result": result}))
    }

    /// Returns the message as a JSON value.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// Returns the message as a line, with its line feed.
    pub fn to_line(&self) -> String {
        format!("{}\n", self.0)
    }
}

fn text_input(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
