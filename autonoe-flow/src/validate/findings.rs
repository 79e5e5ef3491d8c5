//! Collects what is wrong, with the places of it.

use std::path::Path;

use super::report::ValidationReport;
use crate::definition::nested::below;
use crate::definition::{FlowAgent, Step, StepId, StepsRegistry, WorkStep};
use crate::finding::{Finding, FindingKind};
use crate::load::{AGENT_FILE, FlowDefinition, PromptUseFile};

/// What is wrong with a definition, so far.
pub(super) struct Findings<'a> {
    pub(super) definition: &'a FlowDefinition,
    pub(super) agent: &'a FlowAgent,
    pub(super) registry: &'a StepsRegistry,
    errors: Vec<(Order, Finding)>,
    warnings: Vec<(Order, Finding)>,
}

/// `agent.json` comes first, and in a file its lines.
type Order = (bool, Option<(usize, usize)>, String);

/// Which file a finding is about.
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
        let found = self.found(In::Registry, kind, pointer.into(), message, hint);
        self.errors.push(found);
    }

    /// Adds a warning about the steps.
    pub(super) fn warn(
        &mut self,
        kind: FindingKind,
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let found = self.found(In::Registry, kind, pointer.into(), message, hint);
        self.warnings.push(found);
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
        let found = self.found(file, kind, pointer.into(), message, hint);
        self.errors.push(found);
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
        let found = self.found(file, kind, pointer.into(), message, hint);
        self.warnings.push(found);
    }

    fn found(
        &self,
        file: In,
        kind: FindingKind,
        pointer: String,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> (Order, Finding) {
        let (name, places) = match file {
            In::Agent => (Path::new(AGENT_FILE), self.definition.agent_places()),
            In::Registry => (
                self.agent.prompts.registry.as_path(),
                self.definition.registry_places(),
            ),
        };
        let position = places.of_value(&pointer);
        let order = (file == In::Registry, position, pointer.clone());
        let finding = Finding::new(kind, name, pointer, message, hint).at(position);
        (order, finding)
    }

    /// Returns every step with its id and the pointer to it.
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

    /// Returns the ids of all steps, for hints.
    pub(super) fn ids(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.registry.steps.keys().map(StepId::as_str)
    }

    pub(super) fn into_report(self) -> ValidationReport {
        let sorted = |mut found: Vec<(Order, Finding)>| {
            found.sort_by(|(a, _), (b, _)| a.cmp(b));
            found.into_iter().map(|(_, finding)| finding).collect()
        };
        ValidationReport {
            errors: sorted(self.errors),
            warnings: sorted(self.warnings),
        }
    }
}
