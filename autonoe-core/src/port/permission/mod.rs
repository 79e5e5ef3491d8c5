//! What is granted to an agent, in rules that people write.

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
