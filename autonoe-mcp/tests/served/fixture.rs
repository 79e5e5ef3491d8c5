//! Test fixture: a server, and tools that behave as their input requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{
    Attachment, McpServer, ServedTools, ToolDefinition, ToolErrorCode, ToolServer, Toolbox,
};
use autonoe_core::{RunId, Tool, ToolContext, ToolError, ToolOutput};
use autonoe_mcp::HttpToolServer;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Time limit of anything that should happen at once.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Waits for `work`, which should finish soon.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    timeout(SOON, work).await.expect("it happens soon")
}

/// Observations of the tools about their calls.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    called: AtomicUsize,
    /// A waiting call has started.
    pub(crate) waiting: Notify,
    /// A waiting call is over.
    pub(crate) over: Notify,
}

impl Watch {
    pub(crate) fn called(&self) -> usize {
        self.called.load(Ordering::SeqCst)
    }
}

/// Returns a tool that behaves as its input requests, and a read-only one.
pub(crate) fn tools(mark: &str) -> (Toolbox, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    let schema = json!({
        "type": "object",
        "properties": {"do": {"$ref": "#/$defs/What"}, "text": {"type": "string"}},
        "required": ["do"],
        "$defs": {"What": {"type": "string", "description": "What to do."}},
    });
    let act = ToolDefinition::new("act", "Does it.", schema);
    let read_only_tool =
        ToolDefinition::new("look", "Looks.", json!({"type": "object"})).read_only();
    let tools = [act, read_only_tool].map(|definition| {
        Arc::new(Act {
            definition,
            mark: mark.to_owned(),
            watch: watch.clone(),
        }) as Arc<dyn Tool>
    });
    (Toolbox::new(tools), watch)
}

struct Act {
    definition: ToolDefinition,
    mark: String,
    watch: Arc<Watch>,
}

#[async_trait]
impl Tool for Act {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.watch.called.fetch_add(1, Ordering::SeqCst);
        match input["do"].as_str().unwrap_or_default() {
            "say" => {
                let text = input["text"].as_str().unwrap_or_default();
                Ok(ToolOutput::new(format!("{}: {text}", self.mark)))
            }
            "fail" => Err(ToolError::new(ToolErrorCode::NOT_FOUND, "there is no DL-9")),
            "assist" => Err(ToolError::assist("Summarise it.", "it is too long")),
            "assist_code" => {
                let code = ToolErrorCode::LLM_ASSIST_REQUIRED;
                let request = json!({
                    "action": code, "prompt": "Summarise it.", "message": "it is too long",
                });
                Ok(ToolOutput::json(&request).with_metadata(ToolOutput::ERROR, code.as_str()))
            }
            "count" => {
                let steps =
                    Map::from_iter([("progress".into(), 2.into()), ("total".into(), 3.into())]);
                context.progress("begun");
                context.progress_with("nearly done", &steps);
                Ok(ToolOutput::json(&json!({"counted": 3})).with_metadata("steps", 2))
            }
            "show" => Ok(ToolOutput::new("look").with_attachment(Attachment {
                media_type: "image/png".into(),
                name: None,
                data: [1, 2, 3].into(),
            })),
            "wait" => {
                let _over = Over(self.watch.clone());
                self.watch.waiting.notify_one();
                context.cancelled.cancelled().await;
                Err(ToolError::new(ToolErrorCode::CANCELLED, "no caller waits"))
            }
            _ => Ok(ToolOutput::new("seen")),
        }
    }
}

struct Over(Arc<Watch>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.over.notify_one();
    }
}

pub(crate) fn key(number: u32) -> SessionKey {
    SessionKey {
        run: RunId::new("run"),
        number,
    }
}

/// Serves the tools of one session.
pub(crate) async fn serve(server: &HttpToolServer, mark: &str) -> (ServedTools, Arc<Watch>) {
    let (tools, watch) = tools(mark);
    let served = server.serve(&key(1), tools).await.expect("it serves");
    (served, watch)
}

/// Returns the URL and the header with the secret.
pub(crate) fn named(served: &ServedTools) -> (String, String) {
    match &served.server {
        McpServer::Remote { url, headers, .. } => (url.clone(), headers["Authorization"].clone()),
        other => panic!("it is not named by an address: {other:?}"),
    }
}
