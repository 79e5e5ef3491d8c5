//! Extension points for embedders.

mod completion;

pub use completion::{
    COMPLETION_PORT, CompletionContext, CompletionHandler, CompletionResult, CompletionSpec,
    ConditionStates,
};
pub(crate) use completion::{known_completions, read_custom};
