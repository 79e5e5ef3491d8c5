//! An agent in this process: a model, its tools, and the loop between them.

mod agents;
mod asking;
mod budget;
mod calls;
mod client;
mod compaction;
mod control;
mod conversation;
mod limits;
mod options;
mod outcome;
mod prompts;
mod rounds;
mod saved_conversation;
mod told;
mod work;

pub use agents::ModelAgents;
pub use limits::{LimitTable, ModelLimits};
pub use options::ModelAgentOptions;
