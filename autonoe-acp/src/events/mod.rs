//! What the agent's messages mean as they come. Pure.

mod calls;
mod dialect;
mod gemini;
mod translator;
mod usage;

pub(crate) use dialect::Dialect;
pub(crate) use translator::Translator;
pub(crate) use usage::Spending;
