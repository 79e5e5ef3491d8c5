//! Test support for programs built on `autonoe-core`, without a model and without waiting.
//!
//! Scripted agents replace real ones, and virtual time replaces pauses. The gate, the tools and the
//! ledger of a run are real.
//!
//! ```
//! use std::sync::Arc;
//!
//! use autonoe_core::event::InstructionName;
//! use autonoe_core::ledger::MemoryRepository;
//! use autonoe_core::run::FixedInstructions;
//! use autonoe_core::{ExitReason, RunControl, SessionRunner};
//! use autonoe_testkit::{EventLog, ScriptedBackend, SessionScript, VirtualClock};
//! use serde_json::json;
//!
//! #[tokio::main(flavor = "current_thread", start_paused = true)]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let agents = Arc::new(ScriptedBackend::new([
//!         SessionScript::new("plan").plans([("DL-001", "Login", "a user can log in")]).ends(),
//!         SessionScript::new("build")
//!             .is_denied_by("bash-security", "Bash", json!({"command": "rm -rf /"}))
//!             .passes("DL-001")
//!             .ends(),
//!     ]));
//!     let log = Arc::new(EventLog::new());
//!
//!     let runner = SessionRunner::builder("/srv/project")
//!         .agents(agents.clone())
//!         .repository(MemoryRepository::new())
//!         .instructions(FixedInstructions::new([
//!             (InstructionName::Initializer, "Plan."),
//!             (InstructionName::Coding, "Build."),
//!         ]))
//!         .clock(VirtualClock::new())
//!         .observer(log.clone())
//!         .build()?;
//!     let report = runner.run(&RunControl::new()).await;
//!
//!     assert_eq!(report.exit, ExitReason::AllPassed);
//!     assert_eq!(log.count("tool_decided"), 3);
//!     agents.verify();
//!     Ok(())
//! }
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`ScriptedBackend`], [`SessionScript`] | a backend that plays a script. Its tool calls pass through the real gate. Autonoe's own tools run. A vendor's tool, such as `Bash`, does not run: an allowed call returns a fixed result. An unmet expectation fails the test with the name of the step |
//! | [`VirtualClock`] | a five-hour wait takes a millisecond, in paused time |
//! | [`TempProject`] | a project directory that is removed after the test |
//! | [`EventLog`] | the events of a run as reviewable lines |
//! | [`CapturedLogs`], [`CapturedSpans`] | captured `tracing` events and spans |
//! | [`Recorder`], [`Replayer`] | record a run of any backend on a cassette and replay it against the current hooks and tools |
//! | [`FaultyAgents`] | any backend, with faults that a test or a seed chooses |
//! | [`FaultyRepository`] | any repository, whose nth load or save fails |
//! | [`CrashPoints`] | kills a run after every line of its journal in turn, and resumes it |
//!
//! | module | contents |
//! | --- | --- |
//! | [`cassette`] | recorded sessions, in files |
//! | [`conformance`] | test suites for the main ports. Call them from your own tests |
//! | `fake_claude` | a stand-in for Claude Code that plays scripts, recorded conversations and faults |
//! | `model_server` | scripted model APIs of Anthropic, OpenAI and Google, so that real programs and clients run offline |
//! | `program` | helpers for tests of backends that drive a real program |
//! | `simulation` | a seeded simulation that tests a driver of `RunMachine` on hosts that crash, sleep and lose their connection |
//!
//! | feature | adds |
//! | --- | --- |
//! | `fake-claude` | the module `fake_claude` and the program `fake-claude` |
//! | `model-servers` | the module `model_server` |
//! | `programs` | the module `program` |
//! | `simulation` | the module `simulation` |

pub mod cassette;
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
mod tracing_capture;

pub use autonoe_scripted::{
    Expectation, ModelUse, ReceivedSession, ScriptedBackend, ScriptedSpec, SessionScript, ToolUse,
};
pub use cassette::{Cassette, Recorder, Replayer};
pub use chaos::{Fault, FaultHit, FaultyAgents, FaultyRepository, RepositoryCall};
pub use clock::VirtualClock;
pub use crash::{CrashPoint, CrashPoints, CrashReport, RunAttempt, TotalsAccuracy};
pub use event_log::EventLog;
pub use temp_project::TempProject;
pub use tracing_capture::{CapturedLog, CapturedLogs, CapturedSpan, CapturedSpans};
