//! Completion conditions: their kinds, their form in files and their check at run time.

mod dependencies;
mod kind;
pub(crate) mod kinds;

use self::kinds::Completion;
use crate::error::FlowError;
use crate::port::CompletionHandler;

pub use self::dependencies::{
    CompletionDependencies, ExternalStates, LedgerSource, StateProbe, probe_fn,
};
pub(crate) use self::kind::{Mistake, Unreachable};
pub(crate) use self::kinds::{CompletionParts, completion_schema};
pub use crate::port::{COMPLETION_PORT, CompletionContext, CompletionResult, ConditionStates};

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
/// use autonoe_flow::completion::{CompletionContext, CompletionDependencies, build_completion};
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
/// progress.record_iteration();
/// let now = CompletionContext::new(&step, &progress).expect("there was an iteration");
/// completion.check(&now).await?;
///
/// assert!(completion.is_complete());
/// assert_eq!(completion.reason(), "iterations so far: 1");
/// # Ok(())
/// # }
/// ```
pub fn build_completion(
    completion: &Completion,
    needed: &CompletionDependencies,
) -> Result<Box<dyn CompletionHandler>, FlowError> {
    completion.kind().build(needed)
}
