//! Runs coding agents unattended until the work is done.
//!
//! The user writes a specification. Agents turn it into deliverables, work on them session after
//! session and report their status through tools. A run ends when every achievable deliverable has
//! passed, or when it hits a limit. One [gate](gate::Gate) decides about tool calls before they
//! run.
//!
//! For a project directory, start with `ProjectRun`. To assemble the parts yourself, start with
//! [`SessionRunner`]. To also choose each session yourself, start with [`Sessions`].
//!
//! In this example, scripted agents play two sessions: the first plans one deliverable, the second
//! marks it as passed. For real agents, pass another backend to `agents`, such as the
//! `ClaudeBackend` of `autonoe-claude`:
//!
//! ```
//! use std::time::Duration;
//!
//! use autonoe_core::event::InstructionName;
//! use autonoe_core::ledger::MemoryRepository;
//! use autonoe_core::run::FixedInstructions;
//! use autonoe_core::{ExitReason, RunControl, SessionRunner};
//! use autonoe_scripted::{ScriptedBackend, SessionScript};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let plans = SessionScript::new("plans").plans([("DL-001", "Login", "a user can log in")]);
//!     let builds = SessionScript::new("builds").passes("DL-001");
//!     let runner = SessionRunner::builder(std::env::current_dir()?)
//!         .agents(ScriptedBackend::new([plans.ends(), builds.ends()]))
//!         .repository(MemoryRepository::new())
//!         .instructions(FixedInstructions::new([
//!             (InstructionName::Initializer, "Plan what SPEC.md asks for."),
//!             (InstructionName::Coding, "Build one deliverable."),
//!         ]))
//!         .pause_between_sessions(Duration::ZERO)
//!         .build()?;
//!
//!     let report = runner.run(&RunControl::new()).await;
//!
//!     // Every deliverable has passed, so the run ended by itself.
//!     assert_eq!(report.exit, ExitReason::AllPassed);
//!     Ok(())
//! }
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | [`time`] | [`Clock`](time::Clock), [`IdSource`](time::IdSource), IDs, durations |
//! | [`event`] | observers, events, spans, trace contexts |
//! | [`tool`] | [`Tool`], [`TypedTool`], contexts, outputs, the toolbox, input schemas, [`ToolServer`](tool::ToolServer) |
//! | [`ledger`] | deliverables, their states, the repository, the deliverable tools |
//! | [`gate`] | tool calls, guards, hooks, grants and permission rules; [`gate::policy`] is the Bash policy |
//! | [`agent`] | the backend interface: [`AgentClient`], [`AgentClientFactory`], [`SessionSpec`], [`StreamEvent`], [`Capabilities`] |
//! | [`run`] | the runner, its control, limits, quota, report, and the pure [`RunMachine`](run::RunMachine) |
//! | [`session`] | single sessions |
//! | [`spec`] | plugins that a configuration file selects by their `type` |
//! | [`engine`] | engines, jobs, session hosts |
//! | `project` | the project directory on disk; needs the feature `project` |
//!
//! | extension point | trait | simplest implementation |
//! | --- | --- | --- |
//! | an agent | [`AgentClientFactory`], [`AgentClient`] | scripted agents in `autonoe-scripted` |
//! | a rule about tool calls | [`PreToolUseHook`] | [`hook_fn`] |
//! | a Bash policy | [`BashSecurity`](gate::policy::BashSecurity) | a closure |
//! | storage for the ledger | [`DeliverableRepository`] | [`MemoryRepository`](ledger::MemoryRepository) |
//! | the texts of instructions | [`InstructionSource`](run::InstructionSource) | [`FixedInstructions`](run::FixedInstructions) |
//! | a policy for the next instruction | [`InstructionSelector`](run::InstructionSelector) | a closure |
//! | a tool for agents | [`Tool`], [`TypedTool`] | a struct with [`TypedTool::run`] |
//! | an observer | [`RunObserver`] | a closure |
//! | a measure of progress in files | [`Workspace`](run::Workspace) | a closure |
//! | time and IDs | [`Clock`](time::Clock), [`IdSource`](time::IdSource) | [`SystemClock`](time::SystemClock), [`SeededIds`](time::SeededIds) |
//! | an engine | [`Engine`](engine::Engine) | [`LocalEngine`](engine::LocalEngine) |
//! | a job of an engine | [`JobRunner`](engine::JobRunner) | a struct with [`JobRunner::run`](engine::JobRunner::run) |
//! | plugins that a configuration file selects | [`HookSpec`](spec::HookSpec), [`BackendSpec`](spec::BackendSpec) | [`register_spec!`] |
//!
//! Builder methods accept a value or an `Arc` of it: `.hook(MyHook)`,
//! `.repository(shared.clone())`.
//!
//! The library never prints, never exits the process, never reads the environment and installs no
//! signal handlers. Diagnostics go to `tracing`, events go to [`RunObserver`]s.
//!
//! | feature | adds |
//! | --- | --- |
//! | `project` (default) | the module `project` |

pub mod agent;
pub mod engine;
pub mod event;
pub mod gate;
pub mod ledger;
#[cfg(feature = "project")]
pub mod project;
pub mod run;
mod schemas;
pub mod session;
pub mod spec;
mod text;
pub mod time;
pub mod tool;

/// Re-exports used by the expansion of [`register_spec!`]; not part of the public API.
#[doc(hidden)]
pub mod plugin {
    pub use {inventory, serde_json};
}

/// Crates whose types are part of this API, re-exported in the versions that it uses.
///
/// Derive macros need the path of their crate: add `#[schemars(crate = "autonoe_core::schemars")]`
/// to `#[derive(JsonSchema)]`, and `#[serde(crate = "autonoe_core::serde")]` to
/// `#[derive(Serialize, Deserialize)]`. `#[typetag::serde]` needs `typetag` in scope.
pub use {async_trait::async_trait, futures, jiff, schemars, tokio_util::sync::CancellationToken};
pub use {serde, serde_json, typetag};

pub use agent::{
    AgentClient, AgentClientFactory, AgentError, Budget, Capabilities, CostUsd, MessageStream,
    SessionSpec, StreamEvent,
};
pub use autonoe_security::Mode;
pub use event::{RunEvent, RunEventKind, RunObserver};
pub use gate::{HookDecision, PreToolUseHook, hook_fn};
pub use ledger::{Deliverable, DeliverableRepository, DeliverableStatus};
#[cfg(feature = "project")]
pub use project::{Project, ProjectRun};
pub use run::{ExitReason, OnQuota, RunControl, RunReport, SessionRunner};
pub use schemas::schemas;
pub use session::{SessionOrder, Sessions};
#[doc(hidden)]
pub use text::{excerpt_to, is_deceptive, sanitize};
pub use time::RunId;
pub use tool::{Tool, ToolCall, ToolContext, ToolError, ToolKind, ToolOutput, TypedTool};
