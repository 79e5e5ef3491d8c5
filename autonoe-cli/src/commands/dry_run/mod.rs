//! `autonoe run --dry-run` and `autonoe sync --dry-run`.

mod first_step;
mod settings;

use std::process::ExitCode;

use autonoe_app::text::{sanitize_line, shorten};
use autonoe_app::{ChosenBackend, FindModelError, invalid_sandbox_warning};
use autonoe_core::project::RunPreview;
use autonoe_core::{Mode, Project};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use self::first_step::First;
use self::settings::settings;
pub(super) use self::settings::{Setting, flow_settings, limits_in_force};
use crate::args::{OutputFormat, RunArgs};
use crate::cli_env::CliEnv;
use crate::columns::columns;
use crate::error::CliError;

/// Prints the plan of a run. Starts no agent and writes nothing.
pub(super) fn dry_run(
    mode: Mode,
    args: &RunArgs,
    project: &Project,
    env: &CliEnv,
) -> Result<ExitCode, CliError> {
    let (agent, limits) = (args.agent.options(), args.agent.limits.overrides());
    if let Some(warning) = invalid_sandbox_warning(agent.no_sandbox, env) {
        env.print_note(&format!("warning: {warning}"));
    }
    let backend = ChosenBackend::find(agent.backend.as_ref(), Some(project))?;
    backend.check(&agent, env)?;
    for line in &backend.warnings {
        env.print_note(&format!("warning: {}", sanitize_line(line)));
    }
    let on_model = backend
        .on_model(agent.model.as_deref(), Some(project), env)
        .transpose()
        .map_err(FindModelError::into_error)?;
    let (sandbox, now) = (agent.sandbox(env), Timestamp::now());
    let preview = RunPreview::with_limits(project, mode, sandbox, &limits, now)?;
    backend.check_config(&preview.config)?;
    for warning in preview.config.warnings() {
        env.print_note(&format!("warning: {}", sanitize_line(warning)));
    }
    let on_model = on_model.as_ref();
    let named = backend.choice.model();
    let own_model = on_model
        .map(|chosen| chosen.backend.model.as_str())
        .or(named.as_deref());
    let plan = Plan {
        first: First::new(mode, &agent.models(), &preview, own_model),
        settings: settings(&agent, &limits, mode, &preview, &backend, on_model),
    };
    env.print_as(
        args.output.output == OutputFormat::Json,
        &plan,
        Plan::render,
    )?;
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
        render_plan(self.first.rows(), "", &self.settings)
    }
}

/// Renders the next step and the settings of a plan, with `between` in between.
pub(super) fn render_plan(
    next: Vec<(&'static str, String)>,
    between: &str,
    settings: &[Setting],
) -> String {
    let next = next.into_iter();
    let next: Vec<_> = next
        .map(|(key, value)| [key.to_owned(), shorten(&value)])
        .collect();
    let settings: Vec<_> = settings
        .iter()
        .map(|Setting { key, value, source }| [key, value, source].map(|cell| shorten(cell)))
        .collect();
    format!(
        "Next step:\n{}{between}\nSettings and their sources:\n{}\n\
         Nothing was started and nothing was written.\n",
        columns(2, &next),
        columns(2, &settings)
    )
}
