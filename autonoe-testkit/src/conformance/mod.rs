//! Conformance suites: functions that test an implementation of a port against its contract.
//!
//! A suite takes an implementation, tries it in every way that the contract of
//! its port speaks of, and gives back a [`Conformance`]: the checks that
//! passed, those that failed and why, and those that could not be made. One
//! test is enough:
//!
//! ```
//! use std::sync::Arc;
//!
//! use autonoe_core::MemoryRepository;
//! use autonoe_testkit::conformance;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
//! #     .block_on(async {
//! conformance::deliverable_repository(async || Arc::new(MemoryRepository::new()) as Arc<_>).await.assert();
//! # });
//! ```
//!
//! | the port | the suite |
//! | --- | --- |
//! | [`AgentClient`](autonoe_core::AgentClient) | [`agent_client`] |
//! | [`DeliverableRepository`](autonoe_core::DeliverableRepository) | [`deliverable_repository`], and for what outlives a process [`reopened_repository`] and [`corrupt_repository`] |
//! | [`PreToolUseHook`](autonoe_core::PreToolUseHook) | [`pre_tool_use_hook`], and for one without a memory [`stateless_pre_tool_use_hook`] |
//! | [`BashSecurity`](autonoe_core::BashSecurity) | [`bash_contract`], for one that follows the project's rules [`bash_security`], for a policy's own table [`bash_security_cases`], and for one around another [`bash_stricter`] |
//! | [`ToolServer`](autonoe_core::ToolServer) | [`tool_server`] |
//! | [`Engine`](autonoe_core::Engine) | [`engine`] |
//! | [`SessionHost`](autonoe_core::SessionHost) | [`session_host`] |
//! | [`HookSpec`](autonoe_core::HookSpec), [`BackendSpec`](autonoe_core::BackendSpec) | [`specs`] |
//!
//! A crate with a port of its own has the suite of it; [`Checks`] make its report.
//!
//! The asynchronous suites limit every wait in tokio's time. With paused time
//! a limit passes as soon as nothing else can happen, so pause it only for an
//! implementation that works within tokio. A panic of an implementation is a
//! failed check; the suite goes on.

/// Ends a check as failed unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err($crate::conformance::checks::Flaw::Failed(format!($($what)+)));
        }
    };
}

mod agent;
mod bash;
mod checks;
mod engine;
mod hook;
mod report;
mod repository;
mod session_host;
mod specs;
mod tool_server;

pub use agent::{AgentHarness, ProbeCall, Scenario, agent_client, assert_option_refused};
pub use bash::{BashCase, bash_contract, bash_security, bash_security_cases, bash_stricter};
pub use checks::{Checks, Finding, Flaw};
pub use engine::{ENGINE_JOB, engine};
pub use hook::{pre_tool_use_hook, stateless_pre_tool_use_hook};
pub use report::{Conformance, FailedCheck, SkippedCheck};
pub use repository::{corrupt_repository, deliverable_repository, reopened_repository};
pub use session_host::{HostGround, HostedAgents, session_host};
pub use specs::specs;
pub use tool_server::{CallAnswer, ToolServerHarness, ToolsClient, tool_server};
