//! The guards that every run has and nothing can remove.
//!
//! They pass or block and never approve.

mod autonoe_guard;
mod bash_guard;
mod credential_places;
mod file_name;
mod file_scope;
mod meanings;
mod name_positions;
mod resolve;
mod shell_command;
mod shell_spelling;

pub use autonoe_guard::AutonoeGuard;
pub use bash_guard::BashGuard;
pub use credential_places::CredentialPlaces;
pub use file_scope::FileScope;
