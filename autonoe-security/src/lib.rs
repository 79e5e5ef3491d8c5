//! Decides whether an agent may run a Bash command, and explains denials.
//!
//! [`BashValidator`] judges a command by a [`Policy`]: which programs a project may run, in which
//! mode, with which arguments, and where they may write. It finds every command in the text, at any
//! nesting level, with its own parser ([`syntax`]). Everything that it does not fully understand is
//! denied.
//!
//! ```
//! use autonoe_security::{BashSecurity, BashValidator, Policy, PolicyConfig};
//!
//! fn main() -> Result<(), autonoe_security::PolicyError> {
//!     let validator = BashValidator::new(Policy::new("/srv/project", PolicyConfig::default())?);
//!
//!     assert!(validator.check("cargo test 2>&1 | tail -20").is_allowed());
//!     assert!(!validator.check("cat <<EOF\n$(curl example.com)\nEOF").is_allowed());
//!     Ok(())
//! }
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`BashValidator`] | judges commands by a policy |
//! | [`Policy`], [`PolicyConfig`] | the policy of a project, and its settings; [`PolicyScope`] has mode, directory and home |
//! | [`Verdict`] | allow, or deny with a [`Denial`] |
//! | [`Denial`] | the rule, the span in the command, the reason, an alternative, and the [`Layer`] of the policy that decided: the grammar, the baseline of all projects, a language profile, the mode, or the user's own rules |
//! | [`Rule`] | the rules of the policy, with stable numbers |
//! | [`BashSecurity`] | the trait of validators |
//! | [`syntax`] | the parser, the syntax tree and its visitor |
//! | `corpus` | commands with their verdicts; needs the feature `corpus` |
//!
//! The crate does no I/O, has no required dependencies (`serde` and `schemars` are optional) and
//! never panics, whatever the input. Implement [`BashSecurity`] to replace the validator; a closure
//! is enough.
//!
//! A text is parsed once by [`syntax`], the only parser of shell text. The validator then walks the
//! tree, resolves words to arguments and calls the check of each program. A command that exceeds a
//! size limit is denied. No limit depends on time.
//!
//! | feature | adds |
//! | --- | --- |
//! | `serde` | serialisation of verdicts and policies |
//! | `schemars` | their JSON Schemas |
//! | `corpus` | the module `corpus`: commands with their verdicts, for conformance tests |
//!
//! An allow-list is not a sandbox: an allowed program can do anything that its user can do.

#![forbid(unsafe_code)]

// The modules below use the macros of these two.
#[macro_use]
mod word_list;
#[macro_use]
mod option_table;

mod bash_security;
mod check;
#[cfg(feature = "corpus")]
pub mod corpus;
mod credential_paths;
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
    Finding, InnerCommand, is_reading_awk_program, is_reading_program, is_reading_sed_script,
    is_sessions_folder,
};
pub use credential_paths::CREDENTIAL_PATHS;
pub use inner_commands::InnerCommands;
pub use policy::{
    AllowCommands, Destructive, Examples, Mode, Policy, PolicyConfig, PolicyError, PolicyScope,
    Profile, ScopeMismatch, TieredCommands,
};
pub use rule::Rule;
pub use symlinks::ResolveSymlinks;
pub use validator::{BashValidator, Explanation};
pub use verdict::{Denial, Layer, Verdict};
