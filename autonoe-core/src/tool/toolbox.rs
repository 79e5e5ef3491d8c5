//! [`Toolbox`], the tools of one session and the only way to call them.

mod registered_tool;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::registered_tool::RegisteredTool;
use crate::event::Events;
use crate::tool::{
    CallRecords, Tool, ToolContext, ToolDefinition, ToolError, ToolErrorCode, ToolOutput,
};

/// The tools of one session. Backends call tools only through their toolbox.
///
/// Every backend gets the same guarantees. A tool only receives input that matches its schema;
/// numbers and booleans sent as strings are converted first (see
/// [`InputSchema::coerce`](crate::tool::InputSchema::coerce)). If a tool requests assistance of a
/// model, the [assistant](ToolContext::assistant) of the context answers it; without one, the agent
/// receives the prompt. A call never panics: an unknown tool, a panic and a cancellation are
/// errors, and so is an output with [`error`](ToolOutput::ERROR) in its metadata. The
/// [token](ToolContext::cancelled) of a call is cancelled when the session ends or the caller drops
/// the call.
///
/// ```
/// use autonoe_core::time::SessionKey;
/// use autonoe_core::tool::{ToolErrorCode, Toolbox};
/// use autonoe_core::{RunId, ToolContext};
/// use serde_json::json;
///
/// # futures::executor::block_on(async {
/// let toolbox = Toolbox::new([]);
/// let context = ToolContext::new(SessionKey { run: RunId::new("run"), number: 1 });
///
/// let error = toolbox.call("nothing", json!({}), context).await.expect_err("it is unknown");
///
/// assert_eq!(error.code, ToolErrorCode::NOT_FOUND);
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Toolbox {
    tools: Vec<Arc<RegisteredTool>>,
    extra: Map<String, Value>,
    events: Events,
    over: CancellationToken,
    records: Option<CallRecords>,
}

impl Toolbox {
    /// Name of the MCP server under which backends offer these tools.
    pub const SERVER: &'static str = "autonoe";

    /// Creates a toolbox. If two tools have the same name, the first one wins.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let tools = tools
            .into_iter()
            .map(|tool| Arc::new(RegisteredTool::new(tool)));
        Self {
            tools: tools.collect(),
            extra: Map::new(),
            events: Events::silent(),
            over: CancellationToken::new(),
            records: None,
        }
    }

    /// Creates a toolbox with other `tools` for the same session, for example those of a backend.
    /// Their calls emit events, are recorded and are cancelled like those of this toolbox. The
    /// tools do not share a namespace with those of this toolbox.
    #[must_use]
    pub fn with_tools(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let tools = tools
            .into_iter()
            .map(|tool| Arc::new(RegisteredTool::new(tool)));
        Self {
            tools: tools.collect(),
            ..self.clone()
        }
    }

    /// Sets data that is added to [`ToolContext::extra`] of every call.
    #[must_use]
    pub fn with_extra(mut self, extra: Map<String, Value>) -> Self {
        self.extra = extra;
        self
    }

    /// Sets the handle through which tools emit progress.
    #[must_use]
    pub fn with_events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Cancels every current and future call once `over`, the token of the ended session, is
    /// cancelled.
    #[must_use]
    pub fn with_end_token(mut self, over: CancellationToken) -> Self {
        self.over = over;
        self
    }

    /// Sets the records of call results.
    pub(crate) fn with_records(mut self, records: CallRecords) -> Self {
        self.records = Some(records);
        self
    }

    /// Returns the definitions of all tools.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.iter().map(|tool| tool.definition())
    }

    /// Returns the name by which agents call `tool`, for example `mcp__autonoe__list`.
    pub fn qualified_name(tool: &str) -> String {
        format!("mcp__{}__{tool}", Self::SERVER)
    }

    /// Returns the tool name in a [qualified name](Self::qualified_name), or `None` for any other
    /// name.
    ///
    /// ```
    /// use autonoe_core::tool::Toolbox;
    ///
    /// assert_eq!(Toolbox::tool_name("mcp__autonoe__list"), Some("list"));
    /// assert_eq!(Toolbox::tool_name("mcp__browser__list"), None);
    /// ```
    pub fn tool_name(qualified: &str) -> Option<&str> {
        let name = qualified
            .strip_prefix("mcp__")?
            .strip_prefix(Self::SERVER)?
            .strip_prefix("__")?;
        (!name.is_empty()).then_some(name)
    }

    /// Calls the tool `name`.
    ///
    /// # Errors
    ///
    /// The tool is unknown, the input is invalid, or the tool failed, panicked or was cancelled.
    pub async fn call(
        &self,
        name: &str,
        input: Value,
        mut context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let Some(records) = &self.records else {
            return self.dispatch(name, input, context).await;
        };
        let call = records.start(context.call_id.as_deref(), name, &input);
        context.call_id.clone_from(&call.id);
        let result = self.dispatch(name, input, context).await;
        call.end(&result);
        result
    }

    async fn dispatch(
        &self,
        name: &str,
        input: Value,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let mut tools = self.tools.iter();
        let Some(tool) = tools.find(|tool| tool.definition().name == name) else {
            return Err(ToolError::new(
                ToolErrorCode::NOT_FOUND,
                format!("there is no tool {name}; known tools are: {}", self.names()),
            ));
        };
        let format = tool.definition().errors;
        let result = self.call_tool(tool, name, input, context).await;
        result.map_err(|error| error.with_format(format))
    }

    async fn call_tool(
        &self,
        tool: &RegisteredTool,
        name: &str,
        input: Value,
        mut context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        context.tool = name.to_owned();
        context.events = match &context.call_id {
            Some(id) => self.events.at_call(id),
            None => self.events.child(),
        };
        for (key, value) in &self.extra {
            context
                .extra
                .entry(key.clone())
                .or_insert_with(|| value.clone());
        }
        let input = tool.validate_input(input)?;
        // Dropping the call cancels the work that the tool has started elsewhere.
        context.cancelled = context.cancelled.child_token();
        let cancel_on_drop = context.cancelled.clone().drop_guard();
        let call = AssertUnwindSafe(tool.call(input, &context)).catch_unwind();
        let over = self.over.cancelled();
        let result = tokio::select! {
            biased;
            () = over => {
                let message = "the session is over";
                return Err(ToolError::new(ToolErrorCode::CANCELLED, message));
            }
            result = call => result,
            () = context.cancelled.cancelled() => {
                return Err(ToolError::new(ToolErrorCode::CANCELLED, "the call was cancelled"));
            }
        };
        if result.is_ok() {
            cancel_on_drop.disarm();
        }
        result.unwrap_or_else(|_panic| {
            tracing::error!(tool = name, "tool panicked");
            Err(ToolError::new(
                ToolErrorCode::UNKNOWN,
                format!("the tool {name} failed because of an internal error"),
            ))
        })
    }

    fn names(&self) -> String {
        self.definitions()
            .map(|tool| tool.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }
}
