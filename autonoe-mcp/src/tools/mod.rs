//! MCP representation of tools and their results.

mod flat_schema;

use std::borrow::Cow;

use autonoe_core::tool::{Attachment, ToolDefinition, ToolEffect};
use autonoe_core::{ToolError, ToolOutput};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolResult, ContentBlock, MetaObject, ResourceContents, Tool, ToolAnnotations,
};
use serde_json::{Map, Value};

pub(crate) use flat_schema::flatten;

/// Returns the MCP description of a tool.
///
/// All annotations are set explicitly. Without them, agents assume a destructive tool with access
/// to the outside world and ask for approval of every call, and runs are unattended. Effects of our
/// tools can be reverted (the ledger keeps its history) and stay in the project.
pub(crate) fn mcp_tool(tool: &ToolDefinition) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.effect == ToolEffect::ReadOnly)
        .destructive(false)
        .open_world(false);
    Tool::new(
        Cow::Owned(tool.name.clone()),
        Cow::Owned(tool.description.clone()),
        flatten(&tool.input_schema),
    )
    .with_annotations(annotations)
}

/// Names of metadata for programs, beside the content for agents.
const TITLE: &str = "autonoe/title";

const METADATA: &str = "autonoe/metadata";

const CODE: &str = "autonoe/code";

/// Returns the MCP result of a successful call.
///
/// Many agents show the model the structured content instead of the text. It is therefore set only
/// if the text is a JSON object, and then to that object. Details for programs go into the
/// metadata, which agents ignore.
pub(crate) fn success_result(output: &ToolOutput) -> CallToolResult {
    let files = output
        .attachments
        .iter()
        .enumerate()
        .map(|(index, file)| attachment(index, file));
    let content = std::iter::once(ContentBlock::text(&output.output)).chain(files);
    let mut result = CallToolResult::success(content.collect());
    result.structured_content = object(&output.output);
    finished(result, details(Some(output)))
}

/// Returns the MCP result of a failed call.
///
/// Contains text only: the API of Anthropic accepts nothing else in the result of a failed call,
/// and agents forward the content as it is.
pub(crate) fn failed(error: &ToolError) -> CallToolResult {
    let text = error.to_string();
    let files = error
        .attachments()
        .iter()
        .map(|file| ContentBlock::text(file.to_text()));
    let content = std::iter::once(ContentBlock::text(&text)).chain(files);
    let mut result = CallToolResult::error(content.collect());
    result.structured_content = object(&text);
    let mut about = details(error.output.as_deref());
    about.insert(CODE.into(), error.code.as_str().into());
    finished(result, about)
}

/// Returns the title and the metadata of a call, for programs.
fn details(output: Option<&ToolOutput>) -> Map<String, Value> {
    let mut about = Map::new();
    let Some(output) = output else {
        return about;
    };
    if !output.title.is_empty() {
        about.insert(TITLE.into(), output.title.as_str().into());
    }
    if !output.metadata.is_empty() {
        about.insert(METADATA.into(), Value::Object(output.metadata.clone()));
    }
    about
}

fn finished(mut result: CallToolResult, about: Map<String, Value>) -> CallToolResult {
    // This field belongs to a later protocol version than the supported ones.
    result.result_type = None;
    result.meta = (!about.is_empty()).then_some(MetaObject(about));
    result
}

fn object(text: &str) -> Option<Value> {
    let is_object = text.trim_start().starts_with('{');
    let value = is_object.then(|| serde_json::from_str(text).ok()).flatten();
    value.filter(Value::is_object)
}

fn attachment(index: usize, file: &Attachment) -> ContentBlock {
    let kind = file.media_type.as_str();
    let encoded = || STANDARD.encode(&file.data);
    if kind.starts_with("image/") {
        return ContentBlock::image(encoded(), kind);
    }
    if kind.starts_with("audio/") {
        return ContentBlock::audio(encoded(), kind);
    }
    let uri = address(index, file.name.as_deref());
    let resource = match std::str::from_utf8(&file.data) {
        Ok(text) if is_text(kind) => ResourceContents::text(text, uri),
        _ => ResourceContents::blob(encoded(), uri),
    };
    ContentBlock::resource(resource.with_mime_type(kind))
}

fn is_text(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || ["application/json", "application/xml", "application/yaml"].contains(&kind)
}

/// Returns the URI of an attachment, which MCP resources require.
fn address(index: usize, name: Option<&str>) -> String {
    let mut address = "attachment:///".to_owned();
    match name {
        None => address.push_str(&format!("{}", index + 1)),
        Some(name) => {
            for byte in name.bytes() {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                        address.push(char::from(byte));
                    }
                    _ => address.push_str(&format!("%{byte:02X}")),
                }
            }
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use autonoe_core::tool::ToolErrorCode;
    use serde_json::json;

    use super::*;

    #[test]
    fn listed_tool_has_flat_schema_and_hints() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {"id": {"$ref": "#/$defs/Id"}},
            "$defs": {"Id": {"type": "string", "minLength": 1}},
        });
        let read_only_tool = ToolDefinition::new("look", "Looks.", schema.clone()).read_only();
        let writing_tool = ToolDefinition::new("change", "Changes.", schema);

        let listed = |tool| serde_json::to_value(mcp_tool(tool)).expect("it serialises");

        let flat = json!({
            "type": "object",
            "properties": {"id": {"type": "string", "minLength": 1}},
        });
        let hints = |is_read_only: bool| {
            json!({
                "readOnlyHint": is_read_only,
                "destructiveHint": false,
                "openWorldHint": false,
            })
        };
        assert_eq!(
            listed(&read_only_tool),
            json!({"name": "look", "description": "Looks.", "inputSchema": flat, "annotations": hints(true)})
        );
        assert_eq!(
            listed(&writing_tool),
            json!({"name": "change", "description": "Changes.", "inputSchema": flat, "annotations": hints(false)})
        );
    }

    fn to_json(result: &CallToolResult) -> Value {
        serde_json::to_value(result).expect("it serialises")
    }

    fn file(media_type: &str, name: Option<&str>, data: &[u8]) -> Attachment {
        Attachment {
            media_type: media_type.to_owned(),
            name: name.map(str::to_owned),
            data: data.into(),
        }
    }

    #[test]
    fn a_text_that_is_an_object_is_structured_content_too() {
        for (text, structured) in [
            (r#"{"success": true}"#, Some(json!({"success": true}))),
            ("[1]", None),
            ("{ not json", None),
            ("done", None),
        ] {
            let result = to_json(&success_result(&ToolOutput::new(text)));

            assert_eq!(result["content"], json!([{"type": "text", "text": text}]));
            assert_eq!(
                result.get("structuredContent"),
                structured.as_ref(),
                "{text}"
            );
            assert_eq!(result["isError"], json!(false));
        }
    }

    #[test]
    fn structured_details_replace_no_text() {
        let output = ToolOutput::new("seen")
            .with_title("Looked")
            .with_metadata("lines", 3);

        let result = to_json(&success_result(&output));

        assert_eq!(
            result,
            json!({
                "content": [{"type": "text", "text": "seen"}],
                "isError": false,
                "_meta": {"autonoe/title": "Looked", "autonoe/metadata": {"lines": 3}},
            })
        );
    }

    #[test]
    fn attachments_have_the_types_of_the_protocol() {
        let output = ToolOutput::new("")
            .with_attachment(file("image/png", None, &[1, 2]))
            .with_attachment(file("audio/wav", None, &[3]))
            .with_attachment(file("text/plain", Some("a b/ä.txt"), b"hi"))
            .with_attachment(file("application/pdf", None, b"%PDF"))
            .with_attachment(file("text/plain", None, &[0xff]));

        let result = to_json(&success_result(&output));

        assert_eq!(
            result["content"],
            json!([
                {"type": "text", "text": ""},
                {"type": "image", "data": "AQI=", "mimeType": "image/png"},
                {"type": "audio", "data": "Aw==", "mimeType": "audio/wav"},
                {"type": "resource", "resource":
                    {"uri": "attachment:///a%20b/%C3%A4.txt", "mimeType": "text/plain", "text": "hi"}},
                {"type": "resource", "resource":
                    {"uri": "attachment:///4", "mimeType": "application/pdf", "blob": "JVBERg=="}},
                {"type": "resource", "resource":
                    {"uri": "attachment:///5", "mimeType": "text/plain", "blob": "/w=="}},
            ])
        );
    }

    #[test]
    fn failure_result_has_its_code() {
        let error = ToolError::new(ToolErrorCode::NOT_FOUND, "there is no DL-9");

        assert_eq!(
            to_json(&failed(&error)),
            json!({
                "content": [{"type": "text", "text": "NOT_FOUND: there is no DL-9"}],
                "isError": true,
                "_meta": {"autonoe/code": "NOT_FOUND"},
            })
        );
    }

    // Shows: framework/tools/pictures-of-failures
    #[test]
    fn a_failure_keeps_title_metadata_and_attachments_as_text() {
        let output = ToolOutput::new("9 pages are printed")
            .with_title("Printed 9 pages")
            .with_metadata("pages", 9)
            .with_attachment(file("image/png", Some("page.png"), &[1, 2]))
            .with_attachment(file("text/plain", None, b"Load paper."));
        let error = ToolError::new(ToolErrorCode::new("PAPER_JAM"), "jammed").with_output(output);

        assert_eq!(
            to_json(&failed(&error)),
            json!({
                "content": [
                    {"type": "text", "text": "9 pages are printed"},
                    {"type": "text", "text":
                        "[attached file page.png (image/png), 2 bytes: it cannot be shown here]"},
                    {"type": "text", "text": "attached file (text/plain):\nLoad paper."},
                ],
                "isError": true,
                "_meta": {
                    "autonoe/code": "PAPER_JAM",
                    "autonoe/title": "Printed 9 pages",
                    "autonoe/metadata": {"pages": 9},
                },
            })
        );
    }
}
