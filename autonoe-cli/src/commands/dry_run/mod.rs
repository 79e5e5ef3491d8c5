//! `autonoe run --dry-run` and `autonoe sync --dry-run`.

mod first_step;
mod settings;

use std::process::ExitCode;

use autonoe_app::text::{sanitize_line, shorten};
use autonoe_app::{ChosenBackend, invalid_sandbox_warning, sandbox_switch};
use autonoe_core::Project;
use autonoe_core::project::RunPreview;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use self::first_step::First;
use self::settings::{ModelChoice, settings};
pub(super) use self::settings::{Setting, flow_settings, limits_in_force};
use crate::args::{OutputFormat, RunRequest};
use crate::cli_env::CliEnv;
use crate::columns::columns;
use crate::error::CliError;

/// Prints the plan of a run. Starts no agent and writes nothing.
pub(super) fn dry_run(
    work: &RunRequest<'_>,
    project: &Project,
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    let sandbox = sandbox_switch(work.agent.no_sandbox, env);
    if let Some(warning) = invalid_sandbox_warning(work.agent.no_sandbox, env) {
        env.print_note(&format!("warning: {warning}"));
    }
    let backend = ChosenBackend::find(work.agent.backend.as_ref(), Some(project))?;
    backend.check(work.agent.requirements(env))?;
    for line in &backend.warnings {
        env.print_note(&format!("warning: {}", sanitize_line(line)));
    }
    let chosen = ModelChoice::find(&backend, work, project, env)?;
    let (overrides, now) = (work.agent.limits.overrides(), Timestamp::now());
    let preview = RunPreview::with_limits(project, work.mode, sandbox, &overrides, now)?;
    backend.check_config(&preview.config)?;
    for warning in preview.config.warnings() {
        env.print_note(&format!("warning: {}", sanitize_line(warning)));
    }
    let named = backend.choice.model();
    let own_model = chosen.as_ref().map(ModelChoice::model).or(named.as_deref());
    let plan = Plan {
        first: First::new(work, &preview, own_model),
        settings: settings(work, &preview, &backend, chosen.as_ref()),
    };
    match work.output.output {
        OutputFormat::Json => env.print_json(&plan)?,
        OutputFormat::Text => env.print(&plan.render())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Output of `--dry-run --output json` of `autonoe run` and `autonoe sync`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    #[serde(flatten)]
    first: First,
    /// The effective configuration.
    settings: Vec<Setting>,
}

impl Plan {
    fn render(&self) -> String {
        let first: Vec<_> = self
            .first
            .rows()
            .into_iter()
            .map(|(key, value)| [key.to_owned(), shorten(&value)])
            .collect();
        let settings: Vec<_> = self
            .settings
            .iter()
            .map(|Setting { key, value, source }| [key, value, source].map(|cell| shorten(cell)))
            .collect();
        format!(
            "Next step:\n{}\nSettings and their sources:\n{}\n\
             Nothing was started and nothing was written.\n",
            columns(2, &first),
            columns(2, &settings)
        )
    }
}
