//! Backend whose agents play scripts instead of calling a model.
//!
//! [`ScriptedBackend`] implements `AgentClientFactory`. Each session plays one [`SessionScript`];
//! its tool calls pass through the real gate and reach the real tools. [`ScriptedSpec`] is the
//! same backend as a plugin that a configuration file can name.
//!
//! ```
//! use std::sync::Arc;
//!
//! use autonoe_core::event::InstructionName;
//! use autonoe_core::ledger::MemoryRepository;
//! use autonoe_core::run::FixedInstructions;
//! use autonoe_core::{ExitReason, RunControl, SessionRunner};
//! use autonoe_scripted::{ScriptedBackend, SessionScript};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let agents = Arc::new(ScriptedBackend::new([
//!     SessionScript::new("plan").plans([("DL-001", "Login", "a user can log in")]).ends(),
//!     SessionScript::new("build").passes("DL-001").ends(),
//! ]));
//! let texts = FixedInstructions::new([
//!     (InstructionName::Initializer, "Plan."),
//!     (InstructionName::Coding, "Build."),
//! ]);
//!
//! let runner = SessionRunner::builder("/srv/project")
//!     .agents(agents.clone())
//!     .repository(MemoryRepository::new())
//!     .instructions(texts)
//!     .pause_between_sessions(std::time::Duration::ZERO)
//!     .build()?;
//! let report = runner.run(&RunControl::new()).await;
//!
//! assert_eq!(report.exit, ExitReason::AllPassed);
//! agents.verify();
//! # Ok::<(), autonoe_core::run::BuildError>(())
//! # }).expect("it builds");
//! ```

mod backend;
mod backend_spec;
mod client;
mod model_use;
mod player;
mod script_state;
mod session_script;
mod step;

pub use backend::ScriptedBackend;
pub use backend_spec::ScriptedSpec;
pub use model_use::ModelUse;
pub use script_state::ReceivedSession;
pub use session_script::SessionScript;
pub use step::{Expectation, ToolUse};
