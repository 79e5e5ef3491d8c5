//! Tool that returns a picture.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::tool::{Attachment, ToolDefinition, ToolErrorCode};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};

/// A PNG image of one pixel.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\
    \x1f\x15\xc4\x89\x00\x00\x00\rIDATx\xdacd\xf8\xcfP\x0f\x00\x03\x86\x01\x80Z4}k\x00\x00\x00\x00IEND\xaeB`\x82";

/// The tool `photo`: returns a picture, and records the context of each call.
///
/// With `{"fails": true}` it fails with the code `FILM_FULL` and returns the picture too.
/// With `{"needs_model": true}` it requests a model.
#[derive(Debug)]
pub struct Camera {
    definition: ToolDefinition,
    contexts: Mutex<Vec<ToolContext>>,
}

impl Camera {
    /// The picture in base64.
    pub const BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    /// Creates the tool.
    pub fn new() -> Arc<Self> {
        let schema = json!({"type": "object", "properties": {
            "fails": {"type": "boolean"}, "needs_model": {"type": "boolean"},
        }});
        Arc::new(Self {
            definition: ToolDefinition::new("photo", "Takes a photo.", schema).read_only(),
            contexts: Mutex::default(),
        })
    }

    /// Returns the contexts of the calls so far.
    pub fn contexts(&self) -> Vec<ToolContext> {
        let contexts = self.contexts.lock();
        contexts.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Tool for Camera {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let contexts = self.contexts.lock();
        let mut contexts = contexts.unwrap_or_else(PoisonError::into_inner);
        contexts.push(context.clone());
        if input["needs_model"] == true {
            let code = ToolErrorCode::LLM_ASSIST_REQUIRED.as_str();
            let request = json!({
                "action": code, "prompt": "Describe the photo.", "message": "it is dark",
            });
            return Ok(ToolOutput::json(&request).with_metadata(ToolOutput::ERROR, code));
        }
        let picture = Attachment {
            media_type: "image/png".to_owned(),
            name: Some("photo.png".to_owned()),
            data: PICTURE.into(),
        };
        let output = if input["fails"] == true {
            ToolOutput::new("the film is full after this photo")
                .with_title("Took the last photo")
                .with_metadata(ToolOutput::ERROR, "FILM_FULL")
        } else {
            ToolOutput::new("the photo is attached").with_title("Took a photo")
        };
        Ok(output.with_attachment(picture))
    }
}
