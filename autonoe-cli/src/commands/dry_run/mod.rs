//! `autonoe run --dry-run` and `autonoe sync --dry-run`.

mod first;
mod on_model;
mod settings;

use std::process::ExitCode;

use autonoe_core::{Project, RunPreview};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use self::first::First;
use self::on_model::OnModel;
use self::settings::settings;
pub(super) use self::settings::{Setting, flow_settings, given_limits};
use crate::args::{OutputFormat, Work};
use crate::columns::columns;
use crate::compose::{ChosenBackend, misread_sandbox, sandbox_switch};
use crate::error::CliError;
use crate::present::{harmless_line, shorten};
use crate::surroundings::Surroundings;

/// Shows what a run would do. No agent is started and nothing is written.
pub(super) fn dry_run(
    work: &Work<'_>,
    project: &Project,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let sandbox = sandbox_switch(work.agent.no_sandbox, surroundings);
    if let Some(warning) = misread_sandbox(work.agent.no_sandbox, surroundings) {
        surroundings.note(&format!("warning: {warning}"));
    }
    let backend = ChosenBackend::find(work.agent.backend.as_ref(), Some(project))?;
    backend.check(work.agent.wanted(surroundings))?;
    for line in &backend.announced {
        surroundings.note(&format!("warning: {}", harmless_line(line)));
    }
    let chosen = OnModel::find(&backend, work, project, surroundings)?;
    let (given, now) = (work.agent.limits.given(), Timestamp::now());
    let preview = RunPreview::under(project, work.mode, sandbox, &given, now)?;
    backend.check_config(&preview.config)?;
    for warning in preview.config.warnings() {
        surroundings.note(&format!("warning: {}", harmless_line(warning)));
    }
    let plan = Plan {
        first: First::of(work, &preview, chosen.as_ref()),
        settings: settings(work, &preview, &backend, chosen.as_ref()),
    };
    match work.output.output {
        OutputFormat::Json => surroundings.say_json(&plan)?,
        OutputFormat::Text => surroundings.say(&plan.shown())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What `--dry-run --output json` of `autonoe run` and `autonoe sync` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    #[serde(flatten)]
    first: First,
    /// The effective configuration.
    settings: Vec<Setting>,
}

impl Plan {
    fn shown(&self) -> String {
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
            "What would come first:\n{}\nWith these settings, each with where it comes from:\n{}\n\
             Nothing was started and nothing was written.\n",
            columns(2, &first),
            columns(2, &settings)
        )
    }
}
