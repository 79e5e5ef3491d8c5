//! Says whether an agent may run a Bash command, and explains why.
//!
//! [`BashValidator`] judges a command by a [`Policy`]: which programs a project
//! may run, in which mode, with which arguments, and where they may write. It
//! finds every command in the text, wherever it stands, with a parser of its own
//! ([`syntax`]). What it does not fully understand is denied.
//!
//! A [`Denial`] teaches: it names the rule, the place in the command, the layer
//! that decided, the reason, and what to do instead.
//!
//! ```
//! use autonoe_security::{BashSecurity, BashValidator, Policy, PolicyConfig};
//!
//! let validator = BashValidator::new(Policy::new("/srv/project", PolicyConfig::default())?);
//!
//! assert!(validator.check("cargo test 2>&1 | tail -20").is_allowed());
//! assert!(!validator.check("cat <<EOF\n$(curl example.com)\nEOF").is_allowed());
//! # Ok::<(), autonoe_security::PolicyError>(())
//! ```
//!
//! It does no I/O, has no dependencies (`serde` is optional), and never panics
//! on any input. Others may judge in other ways: [`BashSecurity`] is the
//! contract, and a closure is the smallest implementation.
//!
//! An allow-list is no sandbox: a program that may run can do what it likes.

#![forbid(unsafe_code)]

// The modules below use the macros of these two.
#[macro_use]
mod words;
#[macro_use]
mod option_table;

mod bash_security;
mod check;
#[cfg(feature = "corpus")]
pub mod corpus;
mod credential_places;
mod inner_commands;
mod policy;
mod rule;
mod symlinks;
pub mod syntax;
mod validator;
mod verdict;
mod wrapper_options;

pub use bash_security::{And, AndWhen, BashSecurity, DenyAll};
pub use check::{
    Finding, InnerCommand, is_reading_awk_program, is_reading_sed_script, is_session_parent,
};
pub use credential_places::CREDENTIAL_PLACES;
pub use inner_commands::InnerCommands;
pub use policy::{
    AllowCommands, Destructive, Examples, Mode, Policy, PolicyConfig, PolicyError, PolicyScope,
    Profile, ScopeMismatch, TieredCommands,
};
pub use rule::Rule;
pub use symlinks::ResolveSymlinks;
pub use validator::{BashValidator, Explanation};
pub use verdict::{Denial, Layer, Verdict};
