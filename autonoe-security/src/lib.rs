//! Says whether an agent may run a Bash command, and explains why.
//!
//! The crate holds the contract: [`BashSecurity`] takes a command and answers
//! with a [`Verdict`]. A denial teaches: it names the rule, the place in the
//! command, the layer that decided, the reason, and what to do instead.
//!
//! It does no I/O, has no dependencies, and never panics on any input. A
//! closure is the smallest implementation:
//!
//! ```
//! use autonoe_security::{BashSecurity, Denial, Layer, Verdict};
//!
//! let only_ls = |command: &str| match command.split_whitespace().next() {
//!     Some("ls") | None => Verdict::Allow,
//!     Some(name) => Verdict::Deny(
//!         Denial::new("only-ls", Layer::User, format!("Command '{name}' is not in the allowlist"))
//!             .instead("use ls"),
//!     ),
//! };
//!
//! assert!(only_ls.check("ls -la").is_allowed());
//! assert!(!only_ls.check("rm -rf /").is_allowed());
//! ```

mod bash_security;
mod verdict;

pub use bash_security::{BashSecurity, DenyAll};
pub use verdict::{Denial, Layer, Verdict};
