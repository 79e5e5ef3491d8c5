//! Translation of the program's messages to stream events.

mod calls;
mod model_call_counter;
mod model_calls;
mod translator;

pub use calls::{EDIT, SHELL, tool_call};
pub(crate) use calls::{dynamic_name, tool_definitions};
pub use model_call_counter::ModelCallCounter;
pub use model_calls::UsageTracker;
pub use translator::Translator;
