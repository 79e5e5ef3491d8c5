//! Validates a definition before it spends any money.

mod checks;
mod data;
mod escalations;
mod findings;
mod names;
mod parameters;
mod prompts;
mod steps;
mod sub_steps;
mod targets;
mod tools;
mod variables;
mod walks;

use crate::load::FlowDefinition;
use findings::Findings;

pub use findings::{ValidatedFlow, ValidationReport};

/// Validates `definition`, without reading or changing any file.
///
/// A definition without errors can finish from every state that its checks and its data lead to,
/// and references only existing things. In strict mode, it also defines every variable of its
/// prompts; otherwise an undefined variable is a warning.
///
/// ```
/// use autonoe_flow::definition::{FlowAgent, StepsRegistry};
/// use autonoe_flow::{FlowDefinition, validate};
///
/// let agent: FlowAgent = serde_json::from_str(
///     r#"{"version": "1", "name": "twice", "behavior": {"completionType": "stepMachine"}}"#,
/// )?;
/// let registry: StepsRegistry = serde_json::from_str(
///     r#"{"entryStep": "a", "steps": {
///         "a": {"prompt": "prompts/a.md", "transition": {"next": "b"}},
///         "b": {"prompt": "prompts/a.md", "transition": {"next": "a"}}
///     }}"#,
/// )?;
///
/// let report = validate(&FlowDefinition::new(agent, registry).with_prompt("prompts/a.md", "Go on."));
///
/// assert!(!report.is_valid());
/// assert_eq!(report.errors[0].kind.code(), "cycle_without_exit");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn validate(definition: &FlowDefinition) -> ValidationReport {
    let mut findings = Findings::new(definition);
    names::check(&mut findings);
    tools::check(&mut findings);
    parameters::check(&mut findings);
    steps::check(&mut findings);
    targets::check(&mut findings);
    checks::check(&mut findings);
    sub_steps::check(&mut findings);
    escalations::check(&mut findings);
    data::check(&mut findings);
    walks::check(&mut findings);
    prompts::check(&mut findings);
    variables::check(&mut findings);
    findings.into_report()
}
