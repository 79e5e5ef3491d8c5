//! [`ValidationReport`], and the findings from which it is collected.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use serde::ser::SerializeStruct;

use crate::definition::{FlowAgent, PromptRef, Step, StepId, StepsRegistry, WorkStep};
use crate::error::{FlowError, FlowErrorKind};
use crate::finding::{DefinitionFinding, FindingKind};
use crate::load::{AGENT_FILE, FlowDefinition, PromptFile, PromptUseFile};
use crate::prompt::{Candidate, candidates};
use autonoe_core::project::config_parts::below;

/// The findings of a validation in progress.
pub(super) struct Findings<'a> {
    pub(super) definition: &'a FlowDefinition,
    pub(super) agent: &'a FlowAgent,
    pub(super) registry: &'a StepsRegistry,
    errors: Vec<(Order, DefinitionFinding)>,
    warnings: Vec<(Order, DefinitionFinding)>,
}

/// Sort key: `agent.json` comes first, then positions in the file.
type Order = (bool, Option<(usize, usize)>, String);

/// The file of a finding.
pub(super) type In = PromptUseFile;

impl<'a> Findings<'a> {
    pub(super) fn new(definition: &'a FlowDefinition) -> Self {
        Self {
            definition,
            agent: definition.agent(),
            registry: definition.registry(),
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds an error about the steps.
    pub(super) fn error(
        &mut self,
        kind: FindingKind,
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = self.finding(In::Registry, kind, pointer.into(), message, hint);
        self.errors.push(finding);
    }

    /// Adds a warning about the steps.
    pub(super) fn warn(
        &mut self,
        kind: FindingKind,
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = self.finding(In::Registry, kind, pointer.into(), message, hint);
        self.warnings.push(finding);
    }

    /// Adds an error about `agent.json` or the steps.
    pub(super) fn error_in(
        &mut self,
        file: In,
        kind: FindingKind,
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = self.finding(file, kind, pointer.into(), message, hint);
        self.errors.push(finding);
    }

    /// Adds a warning about `agent.json` or the steps.
    pub(super) fn warn_in(
        &mut self,
        file: In,
        kind: FindingKind,
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let finding = self.finding(file, kind, pointer.into(), message, hint);
        self.warnings.push(finding);
    }

    fn finding(
        &self,
        file: In,
        kind: FindingKind,
        pointer: String,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> (Order, DefinitionFinding) {
        let (name, source) = match file {
            In::Agent => (Path::new(AGENT_FILE), self.definition.agent_file()),
            In::Registry => (
                self.agent.prompts.registry.as_path(),
                self.definition.registry_file(),
            ),
        };
        let position = source.map(|source| source.position(&pointer));
        let order = (file == In::Registry, position, pointer.clone());
        let finding = DefinitionFinding::new(kind, name, pointer, message, hint).at(position);
        (order, finding)
    }

    /// Returns every step with its ID and its JSON pointer.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&'a StepId, &'a Step, String)> + use<'a> {
        let steps = self.registry.steps.iter();
        steps.map(|(id, step)| (id, step, below("/steps", id.as_str())))
    }

    /// Returns every step in which an agent works.
    pub(super) fn work(
        &self,
    ) -> impl Iterator<Item = (&'a StepId, &'a WorkStep, String)> + use<'a> {
        self.steps()
            .filter_map(|(id, step, at)| step.work().map(|work| (id, work, at)))
    }

    /// Returns the IDs of all steps, for hints.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.registry.steps.keys().map(StepId::as_str)
    }

    /// Returns the file that is used for a prompt, or `None` if there is none.
    pub(super) fn prompt_file(&self, reference: &PromptRef) -> Option<(Candidate, &'a PromptFile)> {
        let candidates = candidates(reference, &self.agent.prompts).into_iter();
        let mut files = candidates.filter_map(|it| Some((self.definition.prompt(&it.path)?, it)));
        files.next().map(|(file, candidate)| (candidate, file))
    }

    pub(super) fn into_report(self) -> ValidationReport {
        let sorted = |mut list: Vec<(Order, DefinitionFinding)>| {
            list.sort_by(|(a, _), (b, _)| a.cmp(b));
            list.into_iter().map(|(_, finding)| finding).collect()
        };
        ValidationReport {
            errors: sorted(self.errors),
            warnings: sorted(self.warnings),
        }
    }
}

/// The result of a validation. A definition is valid exactly when there are no errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationReport {
    /// Problems that prevent the start of the flow, in the order of the files.
    pub errors: Vec<DefinitionFinding>,
    /// Suspicious places that may be intended, in the order of the files.
    pub warnings: Vec<DefinitionFinding>,
}

impl ValidationReport {
    /// Returns whether there are no errors.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Serialize for ValidationReport {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("ValidationReport", 3)?;
        fields.serialize_field("valid", &self.is_valid())?;
        fields.serialize_field("errors", &self.errors)?;
        fields.serialize_field("warnings", &self.warnings)?;
        fields.end()
    }
}

impl fmt::Display for ValidationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.errors.iter().map(|finding| ("error", finding));
        let warnings = self.warnings.iter().map(|finding| ("warning", finding));
        for (index, (severity, finding)) in errors.chain(warnings).enumerate() {
            let line_end = if index > 0 { "\n" } else { "" };
            write!(f, "{line_end}{severity}: {finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ValidationReport {}

impl From<ValidationReport> for FlowError {
    fn from(report: ValidationReport) -> Self {
        let message = match report.errors.len() {
            1 => "the definition of the flow has an error".to_owned(),
            number => format!("the definition of the flow has {number} errors"),
        };
        Self::new(FlowErrorKind::ConfigurationValidation, message).with_cause(report)
    }
}
