//! What the messages of the program mean as they come.

mod calls;
mod model_calls;
mod pace;
mod translator;

pub use calls::{EDIT, SHELL, call_of};
pub(crate) use calls::{dynamic_name, offered};
pub use model_calls::Spending;
pub use pace::Pace;
pub use translator::Translator;
