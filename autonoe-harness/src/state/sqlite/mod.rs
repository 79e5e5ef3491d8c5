//! State in SQLite files, shared by processes and safe through kills and power cuts.

mod claims;
mod meta;
mod rows;
mod store;

pub use meta::SqliteMeta;
pub use store::SqliteState;
