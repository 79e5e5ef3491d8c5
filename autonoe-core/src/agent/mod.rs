//! The backend interface: clients, session specifications, stream events, capabilities, probes and
//! costs.

mod agent_error;
mod backend_probe;
mod budget;
mod capabilities;
mod client;
mod cost;
mod credential_filter;
mod model_call;
mod session_field;
mod session_report;
mod session_scope;
mod session_spec;
mod stream_event;

pub use agent_error::{AgentError, AgentErrorKind};
pub use backend_probe::{Availability, BackendProbe, Credentials, ProbeFinding, ProbeState};
pub use budget::{Budget, BudgetKind, BudgetUsage, TokenUsage};
pub use capabilities::{Capabilities, EventCapabilities, HookCoverage, Support, TokenReports};
pub use client::{
    AgentClient, AgentClientFactory, MessageStream, NoControl, Prompt, SessionControl,
};
pub use cost::{CostTotal, CostUsd, InvalidCost};
pub use credential_filter::CredentialFilter;
pub use model_call::{ModelAnswer, ModelCall, ModelCallRequest, ModelMessages, ModelPart};
pub use session_field::SessionField;
pub use session_report::{Activity, SessionEnd, SessionOutcome, SessionProgress, SessionReport};
pub(crate) use session_scope::SessionScope;
pub use session_spec::{
    OptionalServers, OuterSandbox, Sandbox, SessionSpec, ThinkingBudget, ThinkingBudgetTooSmall,
};
pub use stream_event::{RateLimit, RateLimitStatus, StreamEvent};
