//! The tools of one session.

mod offered;
mod reported_failure;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use self::offered::Offered;
use super::{
    CallRecords, Events, Grants, Tool, ToolContext, ToolDefinition, ToolError, ToolErrorCode,
    ToolOutput,
};

/// The tools of one session, as a backend sees them: the only way to call one.
///
/// Whatever the backend, a tool gets only input that fits its schema; numbers and booleans that
/// came as texts are taken for what they are (see [`InputSchema::coerce`](super::InputSchema::coerce)).
/// A tool that asks a model for help gets it, if the [context](ToolContext::assistant) has an assistant;
/// else the agent is given the prompt. A call never panics: an unknown tool, a panic and a cancellation are errors, and
/// so is an output with [`error`](ToolOutput::ERROR) in its metadata.
///
/// ```
/// use autonoe_core::{RunId, SessionKey, ToolContext, ToolErrorCode, Toolbox};
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
    tools: Vec<Arc<Offered>>,
    extra: Map<String, Value>,
    events: Events,
    over: CancellationToken,
    records: Option<CallRecords>,
}

impl Toolbox {
    /// The name of the MCP server under which backends offer these tools.
    pub const SERVER: &'static str = "autonoe";

    /// Takes `tools`. Of two with the same name the first counts.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let tools = tools.into_iter().map(|tool| Arc::new(Offered::new(tool)));
        Self {
            tools: tools.collect(),
            extra: Map::new(),
            events: Events::silent(),
            over: CancellationToken::new(),
            records: None,
        }
    }

    /// Makes a box of other `tools` for the same session: those of a backend, for example. They
    /// are told, noted and ended like those of this box, and have names of their own.
    #[must_use]
    pub fn beside(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let tools = tools.into_iter().map(|tool| Arc::new(Offered::new(tool)));
        Self {
            tools: tools.collect(),
            ..self.clone()
        }
    }

    /// Sets the data that every call gets as [`ToolContext::extra`].
    #[must_use]
    pub fn with_extra(mut self, extra: Map<String, Value>) -> Self {
        self.extra = extra;
        self
    }

    /// Sets where the progress of tools is told.
    #[must_use]
    pub fn with_events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Cancels every call, also later ones, once `over` is cancelled: the session has ended.
    #[must_use]
    pub fn until(mut self, over: CancellationToken) -> Self {
        self.over = over;
        self
    }

    /// Sets where it is noted what becomes of calls.
    pub(crate) fn with_records(mut self, records: CallRecords) -> Self {
        self.records = Some(records);
        self
    }

    /// Returns the descriptions of all tools.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.iter().map(|offered| offered.definition())
    }

    /// Returns the name under which agents call `tool`, for example `mcp__autonoe__list`.
    pub fn qualified_name(tool: &str) -> String {
        format!("mcp__{}__{tool}", Self::SERVER)
    }

    /// Returns the tool of a name that [`qualified_name`](Self::qualified_name) makes, or `None` for
    /// any other name.
    ///
    /// ```
    /// use autonoe_core::Toolbox;
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

    /// Adds all tools of the box to what is granted.
    #[must_use]
    pub fn granted_in(&self, grants: Grants) -> Grants {
        self.definitions().fold(grants, |grants, tool| {
            grants.with_tool(Self::qualified_name(&tool.name))
        })
    }

    /// Calls the tool `name`.
    ///
    /// # Errors
    ///
    /// The tool is unknown, the input does not fit, or the tool failed, panicked or was cancelled.
    pub async fn call(
        &self,
        name: &str,
        input: Value,
        mut context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let Some(records) = &self.records else {
            return self.carry_out(name, input, context).await;
        };
        let call = records.start(context.call_id.as_deref(), name, &input);
        context.call_id.clone_from(&call.id);
        let result = self.carry_out(name, input, context).await;
        call.end(&result);
        result
    }

    async fn carry_out(
        &self,
        name: &str,
        input: Value,
        context: ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let mut tools = self.tools.iter();
        let Some(offered) = tools.find(|offered| offered.definition().name == name) else {
            return Err(ToolError::new(
                ToolErrorCode::NOT_FOUND,
                format!("there is no tool {name}; there are: {}", self.names()),
            ));
        };
        let format = offered.definition().errors;
        let result = self.call_offered(offered, name, input, context).await;
        result.map_err(|error| error.in_format(format))
    }

    async fn call_offered(
        &self,
        offered: &Offered,
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
        let input = offered.fitting(input)?;
        let call = AssertUnwindSafe(offered.call(input, &context)).catch_unwind();
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
        result.unwrap_or_else(|_panic| {
            tracing::error!(tool = name, "tool panicked");
            Err(ToolError::new(
                ToolErrorCode::UNKNOWN,
                format!("the tool {name} failed in a way it should not"),
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
