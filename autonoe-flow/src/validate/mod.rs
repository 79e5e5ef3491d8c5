//! Validates a definition before it spends any money.

mod checks;
mod data;
mod escalations;
mod findings;
mod names;
mod parameters;
mod prompts;
mod steps;
mod walks;

use autonoe_core::gate::PermissionRule;

use crate::finding::DefinitionFinding;
use crate::load::FlowDefinition;
use findings::{Findings, In};

pub use crate::finding::FindingKind;
pub use findings::ValidationReport;

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
    check_tools(&mut findings);
    parameters::check(&mut findings);
    steps::check(&mut findings);
    steps::check_targets(&mut findings);
    checks::check(&mut findings);
    steps::check_sub_steps(&mut findings);
    escalations::check(&mut findings);
    data::check(&mut findings);
    walks::check(&mut findings);
    prompts::check(&mut findings);
    prompts::check_variables(&mut findings);
    findings.into_report()
}

/// Validates the allowed tools of the agent.
fn check_tools(findings: &mut Findings<'_>) {
    for (index, text) in findings.agent.behavior.allowed_tools.iter().enumerate() {
        if let Err(invalid) = text.parse::<PermissionRule>() {
            let pointer = format!("/behavior/allowedTools/{index}");
            let hint = "use the name of a tool, or a rule like Read(./docs/**) or Bash(npm run *)";
            findings.error_in(
                In::Agent,
                FindingKind::Tool,
                pointer,
                invalid.to_string(),
                hint,
            );
        }
    }
}

/// A valid definition. Validation is the only way to create one.
#[derive(Debug)]
pub struct ValidatedFlow {
    definition: FlowDefinition,
    warnings: Vec<DefinitionFinding>,
}

impl FlowDefinition {
    /// Validates the definition, and returns it if it is valid.
    ///
    /// # Errors
    ///
    /// The definition has errors. The report contains the errors and the warnings.
    pub fn validated(self) -> Result<ValidatedFlow, ValidationReport> {
        let report = validate(&self);
        if report.is_valid() {
            Ok(ValidatedFlow {
                definition: self,
                warnings: report.warnings,
            })
        } else {
            Err(report)
        }
    }
}

impl ValidatedFlow {
    /// Returns the definition.
    pub fn definition(&self) -> &FlowDefinition {
        &self.definition
    }

    /// Returns suspicious places that may be intended.
    pub fn warnings(&self) -> &[DefinitionFinding] {
        &self.warnings
    }
}
