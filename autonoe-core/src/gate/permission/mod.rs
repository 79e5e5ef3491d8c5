//! Permission rules, their patterns, and the grants of an agent.

mod command_pattern;
mod command_words;
mod form;
mod grants;
mod path_pattern;
mod rule;
mod url_pattern;
mod wildcard;

pub use grants::Grants;
pub use rule::{InvalidRule, PermissionRule};
