//! Tools that the suite serves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use autonoe_core::tool::{ToolDefinition, ToolErrorCode, Toolbox};
use autonoe_core::{Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};

/// Observations of the calls of one toolbox.
#[derive(Debug)]
pub(super) struct Watch {
    /// Number of calls of all tools.
    called: AtomicUsize,
    /// Signals that a waiting call has started.
    pub(super) waiting: Notify,
    /// Signals that a waiting call has ended.
    pub(super) over: Notify,
    together: Barrier,
}

impl Watch {
    pub(super) fn called(&self) -> usize {
        self.called.load(Ordering::SeqCst)
    }
}

/// Creates a toolbox whose answers start with `mark`.
pub(super) fn toolbox(mark: &str) -> (Toolbox, Arc<Watch>) {
    let watch = Arc::new(Watch {
        called: AtomicUsize::new(0),
        waiting: Notify::new(),
        over: Notify::new(),
        together: Barrier::new(2),
    });
    let text = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
        "required": ["text"],
        "additionalProperties": false,
    });
    let nothing = json!({"type": "object", "properties": {}});
    let tools = [
        (
            Act::Echo,
            ToolDefinition::new("echo", "Says it again.", text).read_only(),
        ),
        (
            Act::Fail,
            ToolDefinition::new("fail", "Fails.", nothing.clone()),
        ),
        (
            Act::Session,
            ToolDefinition::new("session", "Names its session.", nothing.clone()),
        ),
        (
            Act::Wait,
            ToolDefinition::new("wait", "Waits for ever.", nothing.clone()),
        ),
        (
            Act::Meet,
            ToolDefinition::new("meet", "Waits for another call.", nothing),
        ),
    ];
    let tools = tools.map(|(act, definition)| {
        let (mark, watch) = (mark.to_owned(), watch.clone());
        Arc::new(Probe {
            act,
            definition,
            mark,
            watch,
        }) as Arc<dyn Tool>
    });
    (Toolbox::new(tools), watch)
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Echo,
    Fail,
    Session,
    Wait,
    Meet,
}

struct Probe {
    act: Act,
    definition: ToolDefinition,
    mark: String,
    watch: Arc<Watch>,
}

#[async_trait]
impl Tool for Probe {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Self { mark, watch, .. } = self;
        watch.called.fetch_add(1, Ordering::SeqCst);
        match self.act {
            Act::Echo => {
                let text = input["text"].as_str().unwrap_or_default();
                let times = input["times"].as_u64().unwrap_or(1);
                Ok(ToolOutput::new(format!("{mark}: {text} {times}")))
            }
            Act::Fail => {
                let code = ToolErrorCode::new("OUT_OF_PAPER");
                Err(ToolError::new(code, "there is no paper left"))
            }
            Act::Session => Ok(ToolOutput::new(context.session.to_string())),
            Act::Wait => {
                let _over = Over(watch.clone());
                watch.waiting.notify_one();
                context.cancelled.cancelled().await;
                Err(ToolError::new(ToolErrorCode::CANCELLED, "nobody waits"))
            }
            Act::Meet => {
                watch.together.wait().await;
                Ok(ToolOutput::new(format!("{mark}: met")))
            }
        }
    }
}

/// Signals on drop that a call has ended, however it ends.
struct Over(Arc<Watch>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.over.notify_one();
    }
}
