//! Prompts: search paths, templates and variables.

mod resolver;
mod search_path;
mod template;

pub(crate) use resolver::is_context_variable;
pub use resolver::{CONTEXT_VARIABLES, PromptResolver, ResolvedPrompt};
pub use search_path::PromptOrigin;
pub(crate) use search_path::candidates;
pub use template::{Filled, Template, TemplateError, Variables};
