//! Conformance suite for tool servers.

mod access;
mod answers;
mod shutdown;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{
    McpServer, ServedTools, ToolDefinition, ToolErrorCode, ToolServer, Toolbox,
};
use autonoe_core::{RunId, Tool, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};

use super::checks::{CheckOutcome, Checks, Conformance, Flaw, within};

/// The time limit of every request to a server.
const LIMIT: Duration = Duration::from_secs(20);

/// Checks a [`ToolServer`](autonoe_core::tool::ToolServer) against its contract.
///
/// The suite serves its own tools and calls them as an agent would, through the client that the
/// harness creates. Fewer checks apply to a server that is described by a command, because its
/// address cannot be observed.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_testkit::conformance::{self, ToolServerHarness};
///
/// async fn my_server_does_what_it_must(harness: Arc<dyn ToolServerHarness>) {
///     conformance::tool_server(harness).await.assert();
/// }
/// ```
pub async fn tool_server(harness: Arc<dyn ToolServerHarness>) -> Conformance {
    let mut checks = Checks::new("tool server");
    let fixture = Fixture { harness };
    answers::check(&fixture, &mut checks).await;
    access::check(&fixture, &mut checks).await;
    shutdown::check(&fixture, &mut checks).await;
    checks.finish()
}

/// Fixture shared by the checks.
struct Fixture {
    harness: Arc<dyn ToolServerHarness>,
}

impl Fixture {
    /// Serves tools for the session with this number.
    async fn serve(&self, number: u32, tools: Toolbox) -> CheckOutcome<ServedTools> {
        let server = self.harness.server();
        let key = key(number);
        let served = within(LIMIT, "serving", server.serve(&key, tools)).await?;
        served.map_err(|error| Flaw::Failed(format!("it does not start: {error}")))
    }

    /// Connects to served tools, which must work.
    async fn reach(&self, served: &ServedTools) -> CheckOutcome<Arc<dyn ToolsClient>> {
        let connecting = self.harness.connect(&served.server);
        let client = within(LIMIT, "connecting", connecting).await?;
        client.map_err(|error| Flaw::Failed(format!("cannot reach its tools: {error}")))
    }
}

/// Calls a tool, which must return an answer.
async fn call(
    client: &Arc<dyn ToolsClient>,
    tool: &str,
    input: serde_json::Value,
) -> CheckOutcome<CallAnswer> {
    let answer = within(LIMIT, "a call", client.call(tool, input)).await?;
    answer.map_err(|error| Flaw::Failed(format!("a call of {tool} got no answer: {error}")))
}

fn key(number: u32) -> SessionKey {
    SessionKey {
        run: RunId::new("conformance"),
        number,
    }
}

/// A tool server, and the client of an agent for it.
#[async_trait]
pub trait ToolServerHarness: Send + Sync {
    /// Returns the server under test, always the same one.
    fn server(&self) -> Arc<dyn ToolServer>;

    /// Connects to the server that `at` describes, as an agent would.
    ///
    /// # Errors
    ///
    /// A human-readable reason if the server is unreachable or denies access.
    async fn connect(&self, at: &McpServer) -> Result<Arc<dyn ToolsClient>, String>;
}

/// A client of one served toolbox.
#[async_trait]
pub trait ToolsClient: Send + Sync {
    /// Returns the tools as the server lists them: objects with `name` and `inputSchema`.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    async fn tools(&self) -> Result<Vec<Value>, String>;

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// If there is no answer.
    async fn call(&self, tool: &str, input: Value) -> Result<CallAnswer, String>;
}

/// The answer of a server to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallAnswer {
    /// The tool succeeded with this text.
    Done(String),
    /// The call failed for this reason.
    Refused(String),
}

/// Observations of the calls of one toolbox.
#[derive(Debug)]
struct Watch {
    /// Number of calls of all tools.
    called: AtomicUsize,
    /// Signals that a waiting call has started.
    waiting: Notify,
    /// Signals that a waiting call has ended.
    over: Notify,
    together: Barrier,
}

impl Watch {
    fn called(&self) -> usize {
        self.called.load(Ordering::SeqCst)
    }
}

/// Creates a toolbox whose answers start with `mark`.
fn toolbox(mark: &str) -> (Toolbox, Arc<Watch>) {
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
