//! Runs coding agents unattended until the work is done.
//!
//! A person writes a specification; agents turn it into deliverables, work on
//! them session after session and mark them through tools; a run stops when
//! all of them pass, or when it must. No agent runs a command or writes a file
//! that the policy forbids.
//!
//! Start at [`SessionRunner`]; at [`Sessions`] to decide by yourself which session comes next.
//! Then, by what you want to plug in:
//!
//! | you bring | the port | the smallest one |
//! | --- | --- | --- |
//! | an agent | [`AgentClientFactory`], [`AgentClient`] | scripted agents in `autonoe-testkit` |
//! | a rule about tool calls | [`PreToolUseHook`] | [`hook_fn`] |
//! | a Bash policy | [`BashSecurity`] | a closure |
//! | a place for the ledger | [`DeliverableRepository`] | [`MemoryRepository`] |
//! | the texts that agents are told | [`InstructionSource`] | [`FixedInstructions`] |
//! | a choice of the next instruction | [`InstructionSelector`] | a closure |
//! | a tool for agents | [`Tool`], [`TypedTool`] | a struct and a function |
//! | a way to serve tools to other programs | [`ToolServer`] | |
//! | something that watches | [`RunObserver`] | a closure |
//! | a measure of progress in files | [`Workspace`] | a closure |
//! | time and ids | [`Clock`], [`IdSource`] | [`SystemClock`], [`SeededIds`] |
//! | what drives runs, what carries them out | [`Engine`], [`JobRunner`] | [`LocalEngine`] |
//! | plugins that a file can name | [`HookSpec`], [`BackendSpec`] | [`register_spec!`] |
//!
//! Builders take values or `Arc`s of them: `.hook(MyHook)`, `.repository(shared.clone())`.
//!
//! The library never prints, never exits, never reads the environment and
//! installs no signal handlers: diagnostics go to `tracing`, what people
//! follow goes to [`RunObserver`]s.

mod domain;
mod engine;
mod guard;
mod hooks;
mod port;
#[cfg(feature = "project")]
mod project;
mod run;
mod schemas;
mod tools;

/// What [`register_spec!`] needs from other crates; not for direct use.
#[doc(hidden)]
pub mod plugin {
    pub use {inventory, serde_json};
}

pub use autonoe_security::{AllowCommands, Destructive, Examples, Policy, PolicyConfig};
/// Crates whose types are part of this API, in the versions that it uses.
///
/// Derive macros need to know where their crate is: add
/// `#[schemars(crate = "autonoe_core::schemars")]` to `#[derive(JsonSchema)]`, and
/// `#[serde(crate = "autonoe_core::serde")]` to `#[derive(Serialize, Deserialize)]`.
/// `#[typetag::serde]` needs `typetag` in scope.
pub use {async_trait::async_trait, futures, jiff, schemars, tokio_util::sync::CancellationToken};
pub use {serde, serde_json, typetag};

pub use autonoe_security::{And, AndWhen, BashSecurity, BashValidator, Denial, DenyAll};
pub use autonoe_security::{Explanation, Finding};
pub use autonoe_security::{Layer, PolicyError, PolicyScope, Profile, ResolveSymlinks, Rule};
pub use autonoe_security::{ScopeMismatch, TieredCommands, Verdict};
#[doc(hidden)]
pub use domain::excerpt::excerpt_to;
pub use domain::*;
pub use engine::*;
pub use guard::*;
pub use hooks::*;
pub use port::*;
#[cfg(feature = "project")]
pub use project::*;
pub use run::*;
pub use schemas::schemas;
pub use tools::*;
