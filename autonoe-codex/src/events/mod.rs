//! What the messages of the program mean as they come.

mod calls;
mod model_calls;
mod pace;
mod spending;
mod translator;

pub use calls::{EDIT, SHELL, call_of};
pub(crate) use calls::{dynamic_name, offered};
pub use pace::Pace;
pub use spending::Spending;
pub use translator::Translator;
