//! The backend of a run, and all others that there are.

use std::path::Path;

use autonoe_core::{
    BackendProbe, BackendSpec, ProbeFinding, Sandbox, SandboxSwitch, SessionField, Source,
    probe_backends,
};
use serde_json::Value;

use super::sandbox::{NAME, in_container, switched_off};
use crate::compose::{
    ChosenBackend, ModelsFile, NO_SANDBOX_HINT, context_for, no_sandbox_for, unclaimed,
};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Where backends are looked for.
pub(super) struct Place<'a> {
    pub(super) root: &'a Path,
    pub(super) models: &'a ModelsFile,
    pub(super) surroundings: &'a Surroundings,
}

impl Place<'_> {
    /// Looks at the backend that a spec describes.
    pub(super) async fn look(
        &self,
        backend: &ChosenBackend,
        spec: &dyn BackendSpec,
    ) -> BackendProbe {
        let fields = serde_json::to_value(spec).unwrap_or_default();
        let tag = backend.choice.tag();
        let context = context_for(tag, &fields, self.root, self.models, self.surroundings);
        spec.probe(&context).await
    }

    /// Looks at all backends but the one with `tag`, each with nothing said of it.
    pub(super) async fn look_at_others(&self, tag: &str) -> Vec<BackendProbe> {
        probe_backends(|other| {
            let context = || {
                let Self {
                    root,
                    models,
                    surroundings,
                } = self;
                context_for(other, &Value::Null, root, models, surroundings)
            };
            (other != tag).then(context)
        })
        .await
    }
}

/// Says who named the backend, if the project did.
pub(super) fn named(backend: &ChosenBackend) -> Vec<ProbeFinding> {
    const NAME: &str = "backend";
    let Source::File { .. } = backend.source else {
        return Vec::new();
    };
    let lines = backend.announced.iter().enumerate();
    lines
        .map(|(index, line)| match index {
            0 => ProbeFinding::good(NAME, line),
            _ => ProbeFinding::explained_warning(NAME, line),
        })
        .collect()
}

/// Returns what was found of the backend of a run, with what a person says of the sandbox.
pub(super) fn findings(
    tag: &str,
    probe: &BackendProbe,
    spec: &dyn BackendSpec,
    switch: SandboxSwitch,
) -> Vec<ProbeFinding> {
    let has_outer = spec.outer_sandbox().is_some();
    let findings = probe.findings.iter().cloned();
    match (switch.sandbox(), has_outer) {
        (Sandbox::Required, true) => findings.collect(),
        (Sandbox::Required, false) => findings.map(in_container).collect(),
        (Sandbox::Off, has_outer) => {
            let others = findings.filter(|finding| finding.name != NAME);
            let sandbox = match has_outer {
                true => ProbeFinding::problem(NAME, no_sandbox_for(tag), NO_SANDBOX_HINT),
                false => switched_off(),
            };
            others.chain([sandbox]).collect()
        }
    }
}

/// Reports the first of `fields` that the backend does not claim, as a run does before its first
/// session.
pub(super) fn unclaimed_field(
    spec: &dyn BackendSpec,
    fields: impl IntoIterator<Item = SessionField>,
) -> Option<ProbeFinding> {
    let error = unclaimed(spec, fields)?;
    Some(unusable(&CliError::from(&error)))
}

/// Tells of a backend that cannot be looked at.
pub(super) fn unusable(error: &CliError) -> ProbeFinding {
    const NAME: &str = "backend";
    match error.hint() {
        Some(remedy) => ProbeFinding::problem(NAME, error.to_string(), remedy),
        None => ProbeFinding::explained_problem(NAME, error.to_string()),
    }
}

/// What is told of agents on a model in the list of all backends.
pub(super) fn on_model(findings: &[ProbeFinding]) -> BackendProbe {
    let (model, others): (Vec<_>, Vec<_>) = findings.iter().partition(|it| it.name == "model");
    let told = model.into_iter().chain(others).cloned();
    told.fold(BackendProbe::new("model"), BackendProbe::finding)
}
