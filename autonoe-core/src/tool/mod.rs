//! Tools for agents: definitions, typed tools, contexts, outputs, the toolbox of a session, and
//! tool servers.

pub(crate) mod call_records;
mod mcp_server;
mod plain_schema;
mod progress_note;
mod schema;
mod tool_status;
// The main type has its own file.
#[allow(clippy::module_inception)]
mod tool;
mod tool_call;
mod tool_context;
mod tool_error;
mod tool_execution;
mod tool_output;
mod tool_response;
mod tool_server;
mod toolbox;
mod typed_tool;
mod verdict;

pub(crate) use call_records::CallRecords;
pub use mcp_server::{McpServer, RemoteTransport, ServerReach, StdioTransport};
pub use plain_schema::{plain_output_schema, plain_schema};
pub use progress_note::ProgressNote;
pub use schema::{InputSchema, InvalidSchema};
pub use tool::{Tool, ToolDefinition, ToolEffect};
pub use tool_call::{ToolCall, ToolKind};
pub use tool_context::{Assistant, ToolContext};
pub use tool_error::{AssistRequest, ToolError, ToolErrorCode};
pub use tool_execution::ToolExecution;
pub use tool_output::{Attachment, ErrorFormat, ToolOutput};
pub use tool_response::ToolResponse;
pub use tool_server::{ServedTools, ToolServer, ToolServerError};
pub use tool_status::ToolStatus;
pub use toolbox::Toolbox;
pub use typed_tool::{ToolDescription, TypedTool};
pub use verdict::{JudgeVerdict, VERDICT_TOOL, VerdictSlot, verdict_tool};
