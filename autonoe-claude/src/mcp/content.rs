//! Content of an MCP answer, from the output of a tool.

use autonoe_core::tool::Attachment;
use autonoe_core::{ToolError, ToolOutput};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Returns the answer of a tool that succeeded.
///
/// There is no `structuredContent`: it would replace the text.
pub(super) fn output(output: &ToolOutput) -> Value {
    let mut content = vec![text(&output.output)];
    content.extend(output.attachments.iter().map(attachment));
    json!({ "content": content })
}

/// Returns the answer of a tool that failed.
///
/// Attachments are text: the model API refuses a failed result with anything else.
pub(super) fn failure(error: &ToolError) -> Value {
    let mut content = vec![text(&error.to_string())];
    let attachments = error.attachments().iter();
    content.extend(attachments.map(|attachment| text(&attachment.to_text())));
    json!({"content": content, "isError": true})
}

/// Returns the answer of a denied call.
pub(super) fn refusal(reason: &str) -> Value {
    json!({"content": [text(reason)], "isError": true})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn attachment(attachment: &Attachment) -> Value {
    let kind = &attachment.media_type;
    if kind.starts_with("image/") {
        let data = STANDARD.encode(&attachment.data);
        return json!({"type": "image", "data": data, "mimeType": kind});
    }
    text(&attachment.to_text())
}
