//! Permission rules, their patterns, and the grants of an agent.

mod baseline;
mod command_pattern;
mod command_words;
mod form;
mod grants;
mod path_pattern;
mod rule;
mod url;
mod url_pattern;
mod wildcard;

pub use grants::Grants;
pub use rule::{InvalidRule, PermissionRule};
