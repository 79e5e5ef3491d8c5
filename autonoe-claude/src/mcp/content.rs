//! What a tool returned, as the content of an MCP answer.

use autonoe_core::{Attachment, ToolOutput};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Returns the answer of a tool that succeeded.
///
/// There is no `structuredContent`: it would take the place of the text.
pub(super) fn output(output: &ToolOutput) -> Value {
    let mut content = vec![text(&output.output)];
    content.extend(output.attachments.iter().map(attachment));
    json!({ "content": content })
}

/// Returns the answer of a tool that failed or was refused.
pub(super) fn error(reason: &str) -> Value {
    json!({"content": [text(reason)], "isError": true})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn attachment(attachment: &Attachment) -> Value {
    let (kind, media) = (&attachment.media_type, &attachment.data);
    if kind.starts_with("image/") {
        return json!({"type": "image", "data": STANDARD.encode(media), "mimeType": kind});
    }
    match std::str::from_utf8(media) {
        Ok(words) => text(words),
        Err(_) => {
            let name = attachment.name.as_deref().unwrap_or("an attachment");
            text(&format!("({name}: {} bytes of {kind})", media.len()))
        }
    }
}
