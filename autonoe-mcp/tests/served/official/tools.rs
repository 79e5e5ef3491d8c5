//! Tools that the official checks call.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::{Attachment, ToolDefinition, ToolErrorCode, Toolbox};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Map, Value, json};

pub(super) fn toolbox() -> Toolbox {
    let names = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_progress",
    ];
    Toolbox::new(names.map(|name| {
        let schema = json!({"type": "object", "properties": {}});
        let definition = ToolDefinition::new(name, "A tool for tests.", schema);
        Arc::new(NamedTool(definition)) as Arc<dyn Tool>
    }))
}

/// A tool that behaves as its name says.
struct NamedTool(ToolDefinition);

#[async_trait]
impl Tool for NamedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, _: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let file = |media_type: &str, data: &[u8]| Attachment {
            media_type: media_type.to_owned(),
            name: None,
            data: data.into(),
        };
        let text = ToolOutput::new("This is a simple text response for testing.");
        Ok(match self.0.name.as_str() {
            "test_image_content" => text.with_attachment(file("image/png", &[1])),
            "test_audio_content" => text.with_attachment(file("audio/wav", &[1])),
            "test_embedded_resource" => text.with_attachment(file("text/plain", b"a resource")),
            "test_multiple_content_types" => text
                .with_attachment(file("image/png", &[1]))
                .with_attachment(file("application/json", br#"{"test":"data"}"#)),
            "test_error_handling" => {
                let message = "This tool intentionally returns an error for testing";
                return Err(ToolError::new(ToolErrorCode::UNKNOWN, message));
            }
            "test_tool_with_progress" => {
                for step in [0, 50, 100] {
                    let far = Map::from_iter([
                        ("progress".into(), step.into()),
                        ("total".into(), 100.into()),
                    ]);
                    context.progress_with("", &far);
                }
                text
            }
            _ => text,
        })
    }
}
