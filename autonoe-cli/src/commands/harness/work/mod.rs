//! `autonoe harness work`: the process of a sub-harness.

mod log_lines;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Project, TraceContext};
use autonoe_harness::{FleetHome, HarnessFolder, HarnessLog, MemberWork, ServeOutcome, Serving};

use self::log_lines::LogLines;
use super::git::git;
use super::settings::{VARIABLE, WorkSettings};
use super::workshop::{Rules, Workshop};
use super::{broken, waiting};
use crate::args::HarnessWorkArgs;
use crate::commands::signals;
use crate::compose::{ChosenBackend, ModelsFile, sandbox_switch};
use crate::error::CliError;
use crate::present::start_log_file;
use crate::surroundings::Surroundings;
use crate::telemetry::{Telemetry, incoming_trace};

/// How long an agent has to end when this process has to leave: less than whoever told it to waits.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long the last export may take when this process has to leave: with [`PATIENCE`], less than the
/// coordinator waits.
const LEAVE_LIMIT: Duration = Duration::from_millis(1500);

/// How long a member that has ended exports telemetry at most. Others may wait for its end.
const EXPORT_LIMIT: Duration = Duration::from_secs(10);

/// Serves the folder of a sub-harness.
pub(super) fn work(
    args: &HarnessWorkArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let settings = WorkSettings::of(surroundings)?;
    let path = surroundings.working_dir.join(&args.folder);
    let folder = HarnessFolder::at(&path).map_err(|error| broken(&error))?;
    let home = FleetHome::around(&folder).map_err(|error| broken(&error))?;
    let project = Project::find(home.project(), None)?;
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let trace = incoming_trace(surroundings);
    let telemetry = start_telemetry(&project, &folder, &models, trace.as_ref(), surroundings)?;
    // From here on nobody needs the settings and the keys of telemetry.
    let surroundings = &without(surroundings, &settings);
    let mut workshop = workshop(&project, &folder, models, &settings, surroundings)?;
    workshop.telemetry(telemetry.sessions());
    let git = git(&home, surroundings);
    let executors = move |folder: &Path| workshop.executors(folder, trace.as_ref());
    let member = MemberWork::new(home, executors).git(git);
    let served = waiting(async {
        let serving = Serving::new(folder, Arc::new(member)).until(signals::asked(), PATIENCE);
        serving.run().await.map_err(|error| broken(&error))
    });
    let limit = match &served {
        Ok(ServeOutcome::Ended(_)) => EXPORT_LIMIT,
        Ok(ServeOutcome::BrokenOff) | Err(_) => LEAVE_LIMIT,
    };
    if let Some(warning) = telemetry.finish_within(limit) {
        tracing::warn!("{warning}");
    }
    Ok(match served? {
        ServeOutcome::Ended(_) => ExitCode::SUCCESS,
        ServeOutcome::BrokenOff => crate::exit_code::INTERRUPTED.into(),
    })
}

fn workshop(
    project: &Project,
    folder: &HarnessFolder,
    models: ModelsFile,
    settings: &WorkSettings,
    surroundings: &Surroundings,
) -> Result<Workshop, CliError> {
    let rules = Rules {
        switch: sandbox_switch(settings.no_sandbox, surroundings),
        destructive: settings.destructive(),
        thinking: settings.thinking(),
    };
    let mut workshop = Workshop::of(project, models, rules, surroundings)?;
    for (name, word) in &settings.backends {
        let chosen = match &word.backend {
            Some(word) => ChosenBackend::of_flag(&word.parse().map_err(CliError::failure)?),
            None => ChosenBackend::find(None, Some(project))?,
        };
        workshop.add(name, &chosen, word.model.as_deref(), project)?;
    }
    workshop.usual(&settings.usual);
    let log = HarnessLog::open(folder).map_err(|error| broken(&error))?;
    workshop.observed_by(Arc::new(LogLines::new(log)));
    Ok(workshop)
}

fn without(surroundings: &Surroundings, settings: &WorkSettings) -> Surroundings {
    let mut without = surroundings.clone();
    let is_key = |name: &OsString| {
        settings
            .telemetry_keys
            .iter()
            .any(|key| name == key.as_str())
    };
    without
        .environment
        .retain(|name, _| name != VARIABLE && !is_key(name));
    without
}

/// Starts the export of telemetry, below the span that the coordinator has for this member, and the
/// log of the sub-harness.
fn start_telemetry(
    project: &Project,
    folder: &HarnessFolder,
    models: &ModelsFile,
    trace: Option<&TraceContext>,
    surroundings: &Surroundings,
) -> Result<Telemetry, CliError> {
    // Several members export the same metrics at once; a receiver would mix them up without this.
    let instance = match trace {
        Some(trace) => format!("{}-{}", folder.id(), trace.span()),
        None => folder.id().to_string(),
    };
    let section = &models.telemetry;
    let root = project.root();
    let telemetry = Telemetry::start(section, root, surroundings, trace, Some(instance));
    let (telemetry, error) = match telemetry {
        Ok(telemetry) => (telemetry, None),
        Err(error) => (Telemetry::default(), Some(error)),
    };
    let log = HarnessLog::open(folder).map_err(|error| broken(&error))?;
    start_log_file(log, telemetry.spans());
    if let Some(error) = error {
        tracing::warn!("nothing is exported as telemetry: {error}");
    }
    Ok(telemetry)
}
