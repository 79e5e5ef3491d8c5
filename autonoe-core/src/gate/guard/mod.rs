//! Built-in guards of every run, which cannot be removed.
//!
//! A guard passes or blocks a call and never approves it.

mod autonoe_guard;
mod bash_guard;
mod built_in;
mod credential_paths;
mod file_name;
mod file_scope;
mod ledger_command;
mod name_positions;
mod name_spelling;
mod read_only;
pub(crate) mod reading_command;
mod symlinks_on_disk;
mod tool_input;

pub use autonoe_guard::AutonoeGuard;
pub use bash_guard::BashGuard;
pub use built_in::built_in_guards;
pub use file_scope::FileScope;
pub(crate) use read_only::ReadOnlyGuard;
pub use symlinks_on_disk::SymlinksOnDisk;
