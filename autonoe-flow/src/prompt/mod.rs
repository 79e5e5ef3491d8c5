//! Prompts: search paths, templates and variables.

mod resolver;
mod template;

pub use resolver::{CONTEXT_VARIABLES, PromptOrigin, PromptResolver, ResolvedPrompt};
pub(crate) use resolver::{Candidate, candidates, is_context_variable};
pub use template::{Filled, Template, TemplateError, Variables};
