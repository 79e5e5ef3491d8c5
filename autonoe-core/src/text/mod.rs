//! Text helpers: excerpts, content hashes, invisible characters.

pub(crate) mod content_hash;
pub(crate) mod excerpt;
pub(crate) mod invisible_chars;
