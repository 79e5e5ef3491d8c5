//! Traits for plugins, and the values that they exchange.

mod agent;
mod agent_error;
mod capabilities;
mod clock;
mod gate;
mod hook;
mod id_source;
mod instruction_source;
pub(crate) mod lexical_path;
mod mcp_server;
mod memory_repository;
mod observer;
mod permission;
mod places;
mod plain_schema;
mod repository;
mod run_event;
mod session_spec;
mod spec;
mod tool;
mod tool_call;
mod tool_context;
mod tool_server;
mod toolbox;
mod typed_tool;

pub use agent::{
    AgentClient, AgentClientFactory, MessageStream, NoControl, Prompt, SessionControl,
};
pub use agent_error::{AgentError, AgentErrorKind};
pub use capabilities::{Capabilities, HookCoverage, Support};
pub use clock::{Clock, SystemClock};
pub use gate::{Gate, GateDecision};
pub use hook::{HookDecision, PreToolUseHook, hook_fn};
pub use id_source::{IdSource, NoRandomness, RandomIds, SeededIds};
pub use instruction_source::{FixedInstructions, InstructionError, InstructionSource};
pub use mcp_server::{McpServer, RemoteTransport, StdioTransport};
pub use memory_repository::MemoryRepository;
pub use observer::{Events, RunObserver};
pub use permission::{Grants, InvalidRule, PermissionRule};
pub use places::Places;
pub use plain_schema::{plain_output_schema, plain_schema};
pub use repository::{
    DeliverableRepository, Fence, RepositoryError, RepositoryErrorKind, Revision, Snapshot,
};
pub use run_event::{Delivery, RunEvent, RunEventKind, WaitReason};
pub use session_spec::{
    OuterSandbox, Sandbox, SessionSpec, ThinkingBudget, ThinkingBudgetTooSmall,
};
pub use spec::{
    BackendSpec, HookSpec, SpecContext, SpecEntry, SpecError, SpecPort, registered_specs,
};
pub use tool::{
    Attachment, Tool, ToolDefinition, ToolEffect, ToolError, ToolErrorCode, ToolOutput,
};
pub use tool_call::{ToolCall, ToolKind};
pub use tool_context::ToolContext;
pub use tool_server::{ServedTools, ToolServer, ToolServerError};
pub use toolbox::Toolbox;
pub use typed_tool::TypedTool;
