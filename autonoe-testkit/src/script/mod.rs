//! Agents that play a script.

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
