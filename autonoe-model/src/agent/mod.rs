//! In-process agent: a model, its tools, and the loop between them.

mod agent_loop;
mod backend;
mod calls;
mod compaction;
mod control;
mod conversation;
mod loop_policy;
mod metered_model;
mod options;
mod outcome;
mod prompts;

pub use backend::ModelBackend;
pub use options::{LimitTable, ModelAgentOptions, ModelLimits};
