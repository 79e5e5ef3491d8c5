//! Prompts: where they are, and what stands in them.

mod context;
mod places;
mod resolver;
mod template;

pub use context::CONTEXT_VARIABLES;
pub(crate) use context::is_context_variable;
pub use places::PromptOrigin;
pub(crate) use places::candidates;
pub(crate) use resolver::PromptFiles;
pub use resolver::{PromptResolver, ResolvedPrompt};
pub use template::{Filled, Template, TemplateError, Variables};
