//! Test support for tools built on `autonoe-core`, without a model and without waiting.
//!
//! - [`ScriptedBackend`]: a backend that plays a script. Its tool calls go through the real hooks
//!   and the real tools. An unmet expectation fails the test with the name of the step.
//! - [`VirtualClock`]: a five-hour wait takes a millisecond, in paused time.
//! - [`EventLog`]: the events of a run as reviewable lines.
//! - [`CapturedLogs`]: captured tracing events.
//! - [`Recorder`] and [`Replayer`]: record a run of any backend on a cassette and replay it
//!   against the current hooks and tools.
//! - [`FaultyAgents`]: any backend, with faults that a test or a seed chooses.
//! - [`FaultyRepository`]: any repository, whose nth load or save fails.
//! - [`TempProject`]: a project directory that is removed after the test.
//! - [`CrashPoints`]: kills a run after every line of its journal in turn, and resumes it.
//! - [`conformance`]: the contract of every port, as functions to call from a test.
//! - `fake_claude` (feature `fake-claude`): a stand-in for Claude Code that plays scripts, recorded
//!   conversations and faults.
//! - `simulation` (feature `simulation`): a seeded simulation of a run on hosts that crash, sleep
//!   and lose their connection, for any driver.
//! - `model_server` (feature `model-servers`): scripted model APIs of Anthropic, OpenAI and Google,
//!   so that real programs and clients run offline.
//!
//! ```
//! use std::sync::Arc;
//!
//! use autonoe_core::event::InstructionName;
//! use autonoe_core::ledger::MemoryRepository;
//! use autonoe_core::run::FixedInstructions;
//! use autonoe_core::{ExitReason, RunControl, SessionRunner};
//! use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
//! use serde_json::json;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
//! #     .block_on(async {
//! let agents = Arc::new(ScriptedBackend::new([
//!     SessionScript::new("plan")
//!         .uses_tool("mcp__autonoe__create", json!({"deliverables": [
//!             {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
//!         ]}))
//!         .ends(),
//!     SessionScript::new("build")
//!         .uses_tool(
//!             "mcp__autonoe__set_status",
//!             json!({"deliverableId": "DL-001", "status": "passed"}),
//!         )
//!         .ends(),
//! ]));
//! let texts = FixedInstructions::new([
//!     (InstructionName::Initializer, "Plan."),
//!     (InstructionName::Coding, "Build."),
//! ]);
//!
//! let runner = SessionRunner::builder("/srv/project")
//!     .agents(agents.clone())
//!     .repository(Arc::new(MemoryRepository::new()))
//!     .instructions(Arc::new(texts))
//!     .clock(Arc::new(VirtualClock::new()))
//!     .build()?;
//! let report = runner.run(&RunControl::new()).await;
//!
//! assert_eq!(report.exit, ExitReason::AllPassed);
//! agents.verify();
//! # Ok::<(), autonoe_core::run::BuildError>(())
//! # }).expect("it builds");
//! ```

mod captured_logs;
mod captured_spans;
mod cassette;
mod chaos;
mod clock;
pub mod conformance;
mod crash;
mod event_log;
#[cfg(feature = "fake-claude")]
pub mod fake_claude;
#[cfg(feature = "model-servers")]
pub mod model_server;
#[cfg(feature = "programs")]
pub mod program;
#[cfg(feature = "simulation")]
pub mod simulation;
mod temp_project;

pub use autonoe_scripted::{
    Expectation, ModelUse, ReceivedSession, ScriptedBackend, ScriptedSpec, SessionScript, ToolUse,
};
pub use captured_logs::{CapturedLog, CapturedLogs};
pub use captured_spans::{CapturedSpan, CapturedSpans};
pub use cassette::{
    Cassette, CassetteError, RecordedFailure, RecordedItem, RecordedSession, RecordedTurn,
    Recorder, Replayer, TurnEnd,
};
pub use chaos::{Fault, FaultHit, FaultyAgents, FaultyRepository, RepositoryCall};
pub use clock::VirtualClock;
pub use crash::{CrashPoint, CrashPoints, CrashReport, RunAttempt, Totals};
pub use event_log::EventLog;
pub use temp_project::TempProject;
