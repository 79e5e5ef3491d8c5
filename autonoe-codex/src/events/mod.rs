//! Translation of the program's messages to stream events.

mod calls;
mod model_calls;
mod translator;

pub use calls::{EDIT, SHELL, tool_call};
pub(crate) use calls::{dynamic_name, tool_definitions};
pub use model_calls::{ModelCallCounter, UsageTracker};
pub use translator::Translator;
