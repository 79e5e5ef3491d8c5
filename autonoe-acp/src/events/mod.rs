//! Pure translation of an agent's messages to stream events.

mod calls;
mod dialect;
mod gemini;
mod translator;
mod usage;

pub(crate) use dialect::Dialect;
pub(crate) use translator::Translator;
pub(crate) use usage::UsageTracker;
