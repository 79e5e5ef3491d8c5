//! Probes the backend of a run with its sandbox, and all other backends, for `autonoe doctor`.

use std::path::Path;

use autonoe_app::{
    ChosenBackend, ModelsFile, NO_SANDBOX_HINT, context_for, no_sandbox_message, unsupported_field,
};
use autonoe_core::agent::{BackendProbe, ProbeFinding, Sandbox, SessionField};
use autonoe_core::project::{SandboxSwitch, Source};
use autonoe_core::spec::{BackendSpec, probe_backends};
use serde_json::Value;

use super::problem;
use crate::cli_env::CliEnv;
use crate::error::CliError;

/// Inputs for probing backends.
pub(super) struct ProbeContext<'a> {
    pub(super) root: &'a Path,
    pub(super) models: &'a ModelsFile,
    pub(super) env: &'a CliEnv,
}

impl ProbeContext<'_> {
    /// Probes the backend that `spec` describes.
    pub(super) async fn probe(
        &self,
        backend: &ChosenBackend,
        spec: &dyn BackendSpec,
    ) -> BackendProbe {
        let fields = serde_json::to_value(spec).unwrap_or_default();
        let tag = backend.choice.tag();
        let context = context_for(tag, &fields, self.root, self.models, self.env);
        spec.probe(&context).await
    }

    /// Probes all backends except the one with `tag`, each with its default options.
    pub(super) async fn probe_others(&self, tag: &str) -> Vec<BackendProbe> {
        probe_backends(|other| {
            let context = || {
                let Self { root, models, env } = self;
                context_for(other, &Value::Null, root, models, env)
            };
            (other != tag).then(context)
        })
        .await
    }
}

/// Reports that the project names the backend, with its warnings; empty if the project does not.
pub(super) fn source_findings(backend: &ChosenBackend) -> Vec<ProbeFinding> {
    const NAME: &str = "backend";
    let Source::File { .. } = backend.source else {
        return Vec::new();
    };
    let lines = backend.warnings.iter().enumerate();
    lines
        .map(|(index, line)| match index {
            0 => ProbeFinding::good(NAME, line),
            _ => ProbeFinding::explained_warning(NAME, line),
        })
        .collect()
}

/// Returns the findings about the backend of a run, adjusted to the sandbox switch.
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
        (Sandbox::Required, false) => findings.map(add_no_sandbox_hint).collect(),
        (Sandbox::Off, has_outer) => {
            let others = findings.filter(|finding| finding.name != SANDBOX);
            let sandbox = if has_outer {
                ProbeFinding::problem(SANDBOX, no_sandbox_message(tag), NO_SANDBOX_HINT)
            } else {
                switched_off()
            };
            others.chain([sandbox]).collect()
        }
    }
}

/// Reports the first of `fields` that the backend does not support, as a run does before its first
/// session.
pub(super) fn unclaimed_field(
    spec: &dyn BackendSpec,
    fields: impl IntoIterator<Item = SessionField>,
) -> Option<ProbeFinding> {
    let error = unsupported_field(spec, fields)?;
    Some(problem("backend", &CliError::from(&error)))
}

/// Returns the entry for agents on a model in the list of all backends.
pub(super) fn model_entry(findings: &[ProbeFinding]) -> BackendProbe {
    let (model, others): (Vec<_>, Vec<_>) = findings.iter().partition(|it| it.name == "model");
    let ordered = model.into_iter().chain(others).cloned();
    ordered.fold(BackendProbe::new("model"), BackendProbe::finding)
}

/// Name of findings about the sandbox.
pub(super) const SANDBOX: &str = "sandbox";

/// Adds `--no-sandbox` to the remedy of a problem with the sandbox.
fn add_no_sandbox_hint(mut finding: ProbeFinding) -> ProbeFinding {
    if finding.name == SANDBOX && finding.is_problem() {
        let remedy = finding
            .remedy
            .unwrap_or_else(|| "repair the sandbox".to_owned());
        finding.remedy = Some(format!("{remedy}, or use --no-sandbox in a container"));
    }
    finding
}

/// Reports that the operator switched the sandbox off.
fn switched_off() -> ProbeFinding {
    let remedy = "use this only on a machine that is itself a sandbox, such as a container";
    ProbeFinding::warning(SANDBOX, "switched off", remedy)
}
