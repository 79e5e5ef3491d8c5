//! A backend whose agents play scripts instead of asking a model.
//!
//! [`ScriptedAgents`] implements `AgentClientFactory`. Each session plays one [`SessionScript`];
//! its tool calls pass through the real gate and reach the real tools. [`ScriptedBackend`] is the
//! same backend as a plugin that a configuration file can name.
//!
//! ```
//! use std::sync::Arc;
//!
//! use autonoe_core::{
//!     ExitReason, FixedInstructions, InstructionName, MemoryRepository, RunControl, SessionRunner,
//! };
//! use autonoe_scripted::{ScriptedAgents, SessionScript};
//! use serde_json::json;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let plan = json!({"deliverables": [
//!     {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
//! ]});
//! let passed = json!({"deliverableId": "DL-001", "status": "passed"});
//! let agents = Arc::new(ScriptedAgents::new([
//!     SessionScript::new("plan").uses_tool("mcp__autonoe__create", plan).ends(),
//!     SessionScript::new("build").uses_tool("mcp__autonoe__set_status", passed).ends(),
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
//! # Ok::<(), autonoe_core::BuildError>(())
//! # }).expect("it builds");
//! ```

mod agents;
mod backend_spec;
mod client;
mod model_use;
mod player;
mod session_script;
mod stage;
mod step;

pub use agents::ScriptedAgents;
pub use backend_spec::ScriptedBackend;
pub use model_use::ModelUse;
pub use session_script::SessionScript;
pub use stage::ReceivedSession;
pub use step::{Expectation, ToolUse};
