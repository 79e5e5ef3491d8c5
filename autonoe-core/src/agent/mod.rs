//! The backend interface: clients, session specifications, stream events, capabilities, probes and
//! costs.

mod agent_error;
mod backend_probe;
mod budget;
mod capabilities;
mod client;
mod cost;
mod cost_schema;
mod credential_filter;
mod model_call;
mod model_event;
mod optional_servers;
mod probe_finding;
mod session_field;
mod session_outcome;
mod session_report;
mod session_scope;
mod session_spec;
mod stream_event;
mod tokens;

pub use agent_error::{AgentError, AgentErrorKind};
pub use backend_probe::{Availability, BackendProbe, Credentials};
pub use budget::{Budget, BudgetKind, BudgetUsage};
pub use capabilities::{Capabilities, EventCapabilities, HookCoverage, Support, TokenReports};
pub use client::{
    AgentClient, AgentClientFactory, MessageStream, NoControl, Prompt, SessionControl,
};
pub use cost::{CostTotal, CostUsd, InvalidCost};
pub use credential_filter::CredentialFilter;
pub use model_call::ModelCall;
pub use model_event::{ModelAnswer, ModelCallRequest, ModelMessages, ModelPart};
pub use optional_servers::OptionalServers;
pub use probe_finding::{ProbeFinding, ProbeState};
pub use session_field::SessionField;
pub use session_outcome::{SessionEnd, SessionOutcome};
pub use session_report::{Activity, SessionProgress, SessionReport};
pub(crate) use session_scope::SessionScope;
pub use session_spec::{
    OuterSandbox, Sandbox, SessionSpec, ThinkingBudget, ThinkingBudgetTooSmall,
};
pub use stream_event::{RateLimit, RateLimitStatus, StreamEvent};
pub use tokens::TokenUsage;
