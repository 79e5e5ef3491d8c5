//! Prompts: where they are, and what stands in them.

mod places;
mod resolver;
mod template;

pub use places::PromptOrigin;
pub(crate) use places::candidates;
pub use resolver::{CONTEXT_VARIABLES, PromptResolver, ResolvedPrompt};
pub(crate) use resolver::{PromptFiles, is_context_variable};
pub use template::{Filled, Template, TemplateError, Variables};
