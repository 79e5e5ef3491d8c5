//! The syntax of Bash: a parser and its syntax tree.
//!
//! [`parse`] reads a whole text or returns an error. Bash accepts everything that the parser
//! accepts. The reverse does not hold, because the parser is made for judging commands: it rejects
//! constructs that hide them (control characters, function definitions, extended globs ..). Every
//! command that could run is in the tree, at any depth: in substitutions, here-documents,
//! subscripts and patterns.
//!
//! Commands, words, assignments, redirections and conditions have a [`Span`]. Parts of a word have
//! none, except substitutions, parameters and arithmetic.
//!
//! Parsing takes time linear in the length of the text, has a bounded depth and never panics.
//!
//! ```
//! use autonoe_security::syntax::{CommandKind, parse};
//!
//! let script = parse("make all && echo \"$(date)\"")?;
//!
//! let (_, first) = &script.items[0].pipelines[0];
//! assert!(matches!(first.commands[0].kind, CommandKind::Simple(_)));
//! # Ok::<(), autonoe_security::syntax::SyntaxError>(())
//! ```

mod arithmetic;
mod commands;
mod condition;
mod error;
mod owned;
mod parameter;
mod parser;
mod redirect;
mod script;
mod small_vec;
mod span;
pub mod visit;
mod word;

pub use arithmetic::{Arithmetic, ArithmeticToken};
pub use commands::commands;
pub(crate) use commands::commands_in;
pub use condition::Condition;
pub use error::{SyntaxError, SyntaxErrorKind};
pub use parameter::{Operation, Parameter, Subscript, Substitute};
pub use parser::{MAX_LENGTH, parse};
pub use redirect::{HereDocument, Redirect, RedirectOperator, RedirectTarget};
pub use script::{
    ArgWord, ArithmeticFor, ArrayElement, AssignedValue, Assignment, Branch, Case, CaseArm,
    Command, CommandKind, Connector, For, If, Item, LoopCondition, Runs, Script, ShellPipeline,
    SimpleCommand, While,
};
pub use small_vec::SmallVec;
pub use span::Span;
pub(crate) use word::static_text;
pub use word::{Brace, Part, Substitution, Text, Word};
