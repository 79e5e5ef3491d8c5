//! Models behind one contract, and an agent that needs nothing but one of them.
//!
//! [`ModelClient`] asks a model and never hides a failure; [`Retrying`] asks again when that
//! may help; [`PriceTable`] says what it cost, or that nobody knows, and [`PricedAgents`] say it
//! for a backend that tells only tokens. A [`ProviderSpec`] names a provider in a configuration,
//! and where its key is. [`ModelAgents`] are agents on such a model; [`BuiltInTools`] are those
//! that every one of them has, in a sandbox; [`McpOptions`] say how the MCP servers of a session
//! are started. [`ModelBackend`] is all of it in a configuration file. Whoever writes another
//! client tests it with the suite in `conformance`, behind the feature of this name.

mod agent;
mod backend;
mod contract;
mod known_secrets;
mod mcp;
mod price;
mod provider;
mod retry;
mod tools;
mod transport;
mod wire;

#[cfg(feature = "conformance")]
pub mod conformance;

/// Crates whose types are part of this API, in the versions that it uses.
pub use {autonoe_core, autonoe_process};

pub use agent::{LimitTable, ModelAgentOptions, ModelAgents, ModelLimits};
pub use backend::{KeyPlaces, ModelBackend, command_environment};
pub use contract::{
    AssistantMessage, CallUsage, Message, ModelClient, ModelError, ModelErrorCode, ModelEvent,
    ModelIdentity, ModelReply, ModelRequest, ModelStream, Part, PartKind, StopReason, ToolChoice,
    ToolResult, WireItem, model_fn,
};
pub use mcp::McpOptions;
pub use price::{LongPrompt, Price, PriceTable, PricedAgents, TokenCounts};
pub use provider::{
    AnthropicSpec, GoogleSpec, HeaderSource, IntoProviderSpec, KeySource, OpenAiCompatibleSpec,
    OpenAiSpec, PROVIDER_PORT, Provider, ProviderContext, ProviderSpec, Proxy, provider_spec,
};
pub use retry::{RetryPolicy, Retrying, Verdict};
pub use tools::{
    Bash, BashInput, BuiltInOptions, BuiltInTools, BuiltInToolsError, Edit, EditInput, Glob,
    GlobInput, Grep, GrepInput, NetworkAccess, OutputMode, Read, ReadInput, ToolLimits, ToolPlan,
    Workspace, WorkspaceError, Write, WriteInput, built_in_tools,
};
pub use transport::{BaseUrl, BaseUrlError, Secret, SystemAuthorities, Timeouts, Trust};
pub use wire::anthropic::ThinkingStyle;
pub use wire::chat::{
    CallArguments, Dialect, DialectChanges, LimitField, Pictures, ReasoningField, StreamUsage,
    ThinkingField,
};
pub use wire::openai_responses::{ReasoningModels, ReasoningSummary};
