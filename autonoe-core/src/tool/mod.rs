//! Tools for agents: definitions, typed tools, contexts, outputs, the toolbox of a session, and
//! tool servers.

pub(crate) mod call_records;
mod schema;
// The main type has its own file.
#[allow(clippy::module_inception)]
mod tool;
mod tool_call;
mod tool_context;
mod tool_error;
mod tool_execution;
mod tool_output;
mod tool_server;
mod toolbox;
mod typed_tool;
mod verdict;

pub(crate) use call_records::CallRecords;
pub use schema::{InputSchema, InvalidSchema};
pub use tool::{Tool, ToolDefinition, ToolEffect, plain_output_schema, plain_schema};
pub use tool_call::{ToolCall, ToolKind};
pub use tool_context::{Assistant, ProgressNote, ToolContext};
pub use tool_error::{AssistRequest, ToolError, ToolErrorCode};
pub use tool_execution::{ToolExecution, ToolResponse, ToolStatus};
pub use tool_output::{Attachment, ErrorFormat, ToolOutput};
pub use tool_server::{
    McpServer, RemoteTransport, ServedTools, ServerReach, StdioTransport, ToolServer,
    ToolServerError,
};
pub use toolbox::Toolbox;
pub use typed_tool::{ToolDescription, TypedTool};
pub use verdict::{JudgeVerdict, VERDICT_TOOL, VerdictSlot, verdict_tool};
