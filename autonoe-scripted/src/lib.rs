//! Backend whose agents play scripts instead of calling a model.
//!
//! [`ScriptedBackend`] implements `AgentClientFactory`. Each session plays one [`SessionScript`].
//! Its tool calls pass through the real gate. Autonoe's own tools run. A vendor's tool, such as
//! `Bash`, does not run: an allowed call returns a fixed result. The step [`SessionScript::writes`]
//! also writes the file.
//!
//! ```
//! use std::sync::Arc;
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
//!     let agents = Arc::new(ScriptedBackend::new([
//!         SessionScript::new("plan").plans([("DL-001", "Login", "a user can log in")]).ends(),
//!         SessionScript::new("build").passes("DL-001").ends(),
//!     ]));
//!     let texts = FixedInstructions::new([
//!         (InstructionName::Initializer, "Plan."),
//!         (InstructionName::Coding, "Build."),
//!     ]);
//!
//!     let runner = SessionRunner::builder("/srv/project")
//!         .agents(agents.clone())
//!         .repository(MemoryRepository::new())
//!         .instructions(texts)
//!         .pause_between_sessions(Duration::ZERO)
//!         .build()?;
//!     let report = runner.run(&RunControl::new()).await;
//!
//!     assert_eq!(report.exit, ExitReason::AllPassed);
//!     agents.verify();
//!     Ok(())
//! }
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`ScriptedBackend`] | the backend: one script per session, and the record of all sessions |
//! | [`SessionScript`] | the steps of one session |
//! | [`ToolUse`], [`Expectation`] | a tool call, and the result that the script expects |
//! | [`ModelUse`] | a model call that the script reports |
//! | [`ReceivedSession`] | the input of a session that was played, and the decisions of the gate |
//! | [`ScriptedSpec`] | the backend in a configuration file, `"type": "scripted"` |

mod backend;
mod backend_spec;
mod client;
mod player;
mod script_state;
mod session_script;
mod step;

pub use backend::ScriptedBackend;
pub use backend_spec::ScriptedSpec;
pub use script_state::ReceivedSession;
pub use session_script::SessionScript;
pub use step::{Expectation, ModelUse, ToolUse};
