//! Conformance suites: functions that test an implementation of a port against its contract.
//!
//! A suite takes an implementation, exercises everything that the contract of its port covers, and
//! returns a [`Conformance`]: the checks that passed, those that failed and why, and those that
//! were skipped. One test is enough:
//!
//! ```
//! use std::sync::Arc;
//!
//! use autonoe_core::ledger::MemoryRepository;
//! use autonoe_testkit::conformance;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
//! #     .block_on(async {
//! conformance::deliverable_repository(async || Arc::new(MemoryRepository::new()) as Arc<_>).await.assert();
//! # });
//! ```
//!
//! | port | suite |
//! | --- | --- |
//! | [`AgentClient`](autonoe_core::AgentClient) | [`agent_client`] |
//! | [`DeliverableRepository`](autonoe_core::DeliverableRepository) | [`deliverable_repository`], and for durable ones [`reopened_repository`] and [`corrupt_repository`] |
//! | [`PreToolUseHook`](autonoe_core::PreToolUseHook) | [`pre_tool_use_hook`], and for one without state [`stateless_pre_tool_use_hook`] |
//! | [`BashSecurity`](autonoe_core::gate::policy::BashSecurity) | [`bash_contract`], for one that follows the project's rules [`bash_security`], for a policy's own table [`bash_security_cases`], and for one that wraps another [`bash_stricter`] |
//! | [`ToolServer`](autonoe_core::tool::ToolServer) | [`tool_server`] |
//! | [`Engine`](autonoe_core::engine::Engine) | [`engine`] |
//! | [`SessionHost`](autonoe_core::engine::SessionHost) | [`session_host`] |
//! | [`HookSpec`](autonoe_core::spec::HookSpec), [`BackendSpec`](autonoe_core::spec::BackendSpec) | [`specs`] |
//!
//! A crate that defines its own port provides the suite for it; [`Checks`] builds the report.
//!
//! The asynchronous suites limit every wait in tokio's time. With paused time a limit expires as
//! soon as nothing else can happen, so pause time only for an implementation that works within
//! tokio. A panic of an implementation counts as a failed check; the suite continues.

/// Fails a check unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($problem:tt)+) => {
        if !$holds {
            return Err($crate::conformance::checks::Flaw::Failed(format!($($problem)+)));
        }
    };
}

mod agent;
mod bash;
mod checks;
mod engine;
mod hook;
mod repository;
mod session_host;
mod specs;
mod tool_server;

pub use agent::{AgentHarness, ProbeCall, Scenario, agent_client, assert_option_refused};
pub use bash::{BashCase, bash_contract, bash_security, bash_security_cases, bash_stricter};
pub use checks::{CheckOutcome, Checks, Conformance, FailedCheck, Flaw, SkippedCheck};
pub use engine::{ENGINE_JOB, engine};
pub use hook::{pre_tool_use_hook, stateless_pre_tool_use_hook};
pub use repository::{corrupt_repository, deliverable_repository, reopened_repository};
pub use session_host::{HostProject, HostedAgents, session_host};
pub use specs::specs;
pub use tool_server::{CallAnswer, ToolServerHarness, ToolsClient, tool_server};
