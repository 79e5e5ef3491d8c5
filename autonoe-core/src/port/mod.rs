//! Traits for plugins, and the values that they exchange.

mod agent;
mod agent_error;
mod assist;
mod backend_probe;
mod call_records;
mod capabilities;
mod clock;
mod gate;
mod hook;
mod id_source;
mod instruction_selector;
mod instruction_source;
mod known_backends;
pub(crate) mod lexical_path;
mod mcp_server;
mod memory_repository;
mod model_call;
mod model_event;
mod observer;
mod optional_servers;
mod permission;
mod plain_schema;
mod probe_finding;
mod progress_note;
mod project_memory;
mod project_paths;
mod repository;
mod run_event;
mod schema;
mod session_field;
mod session_scope;
mod session_spec;
mod signs_of_life;
mod spec;
mod spec_schema;
mod tool;
mod tool_call;
mod tool_context;
mod tool_error;
mod tool_execution;
mod tool_response;
mod tool_server;
mod toolbox;
mod typed_tool;
mod workspace;

pub use agent::{
    AgentClient, AgentClientFactory, MessageStream, NoControl, Prompt, SessionControl,
};
pub use agent_error::{AgentError, AgentErrorKind};
pub use assist::{AssistRequest, Assistant};
pub use backend_probe::{Availability, BackendProbe, Credentials};
pub(crate) use call_records::CallRecords;
pub use capabilities::{
    Capabilities, HookCoverage, ServerReach, Support, TokenReports, ToldEvents,
};
pub use clock::{Clock, SystemClock};
pub use gate::{Gate, GateDecision};
pub use hook::{AndHook, HookDecision, PreToolUseHook, WhenHook, hook_fn};
pub use id_source::{IdSource, NoRandomness, RandomIds, SeededIds};
pub use instruction_selector::{InstructionSelector, SelectionContext};
pub use instruction_source::{FixedInstructions, InstructionError, InstructionSource};
pub use known_backends::{plain_backend, probe_backends};
pub use mcp_server::{McpServer, RemoteTransport, StdioTransport};
pub use memory_repository::MemoryRepository;
pub use model_call::{CallCosts, ModelCall};
pub use model_event::{ModelAnswer, ModelAsked, ModelMessages, ModelPart};
pub use observer::{Events, RunObserver};
pub use optional_servers::OptionalServers;
pub use permission::{Grants, InvalidRule, PermissionRule};
pub use plain_schema::{plain_output_schema, plain_schema};
pub use probe_finding::{ProbeFinding, ProbeState};
pub use progress_note::ProgressNote;
pub use project_memory::ProjectMemory;
pub use project_paths::ProjectPaths;
pub use repository::{
    DeliverableRepository, Fence, OwnedLedger, RepositoryError, RepositoryErrorKind, Revision,
    SavedLedger, Snapshot,
};
pub use run_event::{Delivery, RunEvent, RunEventKind, WaitReason};
pub use schema::{InputSchema, InvalidSchema};
pub use session_field::SessionField;
pub(crate) use session_scope::SessionScope;
pub use session_spec::{
    OuterSandbox, Sandbox, SessionSpec, ThinkingBudget, ThinkingBudgetTooSmall,
};
pub(crate) use signs_of_life::SignsOfLife;
pub(crate) use spec::all_specs;
pub use spec::{
    BackendSpec, HookSpec, SpecContext, SpecEntry, SpecError, SpecPort, registered_specs,
};
pub use spec_schema::spec_schema;
pub use tool::{Attachment, ErrorFormat, Tool, ToolDefinition, ToolEffect, ToolOutput};
pub use tool_call::{ToolCall, ToolKind};
pub use tool_context::ToolContext;
pub use tool_error::{ToolError, ToolErrorCode};
pub use tool_execution::ToolExecution;
pub use tool_response::ToolResponse;
pub use tool_server::{ServedTools, ToolServer, ToolServerError};
pub use toolbox::Toolbox;
pub use typed_tool::{ToolDescription, TypedTool};
pub use workspace::{Workspace, WorkspaceSnapshot};
