//! Completion conditions: their kinds, their form in files and their check at run time.

mod dependencies;
mod handler;
pub(crate) mod kinds;

use self::kinds::Completion;
use crate::error::FlowError;

pub use self::dependencies::{
    CompletionDependencies, ExternalStates, LedgerSource, StateProbe, probe_fn,
};
pub use self::handler::{
    COMPLETION_PORT, CompletionContext, CompletionHandler, CompletionResult, CompletionSpec,
    ConditionStates,
};
pub use self::kinds::CompletionNeeds;
pub(crate) use self::kinds::{CompletionParts, Unreachable, completion_schema};

/// Builds the handler that decides whether a flow is complete.
///
/// # Errors
///
/// A dependency of a condition is missing. The kind is [`FlowErrorKind::DependencyResolution`](crate::FlowErrorKind::DependencyResolution), and
/// the message names the dependency.
///
/// ```
/// use autonoe_core::gate::ProjectPaths;
/// use autonoe_core::spec::SpecContext;
/// use autonoe_flow::completion::{
///     CompletionContext, CompletionDependencies, CompletionResult, build_completion,
/// };
/// use autonoe_flow::definition::Behavior;
/// use autonoe_flow::progress::FlowProgress;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let behavior: Behavior = serde_json::from_str(
///     r#"{"completionType": "iterationBudget", "completionConfig": {"maxIterations": 1}}"#,
/// )?;
/// let needed = CompletionDependencies::new(SpecContext::new(ProjectPaths::new("/srv/project")));
/// let mut completion = build_completion(&behavior.completion, &needed)?;
///
/// let step = "draft".parse()?;
/// let mut progress = FlowProgress::default();
/// progress.iterations = 1;
/// let now = CompletionContext::new(&step, &progress).expect("there was an iteration");
///
/// let reason = "iterations so far: 1".to_owned();
/// assert_eq!(completion.check(&now).await?, CompletionResult::Complete { reason });
/// # Ok(())
/// # }
/// ```
pub fn build_completion(
    completion: &Completion,
    needed: &CompletionDependencies,
) -> Result<Box<dyn CompletionHandler>, FlowError> {
    completion.kind().build(needed)
}
