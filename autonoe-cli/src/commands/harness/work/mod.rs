//! `autonoe harness work`: the process of a sub-harness.

mod log_lines;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_core::Project;
use autonoe_harness::{FleetHome, HarnessFolder, HarnessLog, MemberWork, ServeOutcome, Serving};
use tracing_subscriber::filter::LevelFilter;

use self::log_lines::LogLines;
use super::git::git;
use super::settings::{VARIABLE, WorkSettings};
use super::workshop::{Rules, Workshop};
use super::{broken, waiting};
use crate::args::HarnessWorkArgs;
use crate::commands::signals;
use crate::compose::{ChosenBackend, ModelsFile, sandbox_switch};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// How long an agent has to end when this process has to leave: less than whoever told it to waits.
const PATIENCE: Duration = Duration::from_secs(3);

/// Serves the folder of a sub-harness.
pub(super) fn work(
    args: &HarnessWorkArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    let settings = WorkSettings::of(surroundings)?;
    // From here on nobody needs them.
    let surroundings = &without_settings(surroundings);
    let path = surroundings.working_dir.join(&args.folder);
    let folder = HarnessFolder::at(&path).map_err(|error| broken(&error))?;
    let home = FleetHome::around(&folder).map_err(|error| broken(&error))?;
    start_logging(&folder)?;
    let project = Project::find(home.project(), None)?;
    let workshop = workshop(&project, &folder, &settings, surroundings)?;
    let git = git(&home, surroundings);
    let member = MemberWork::new(home, move |folder| workshop.executors(folder)).git(git);
    let served = waiting(async {
        let serving = Serving::new(folder, Arc::new(member)).until(signals::asked(), PATIENCE);
        serving.run().await.map_err(|error| broken(&error))
    })?;
    Ok(match served {
        ServeOutcome::Ended(_) => ExitCode::SUCCESS,
        ServeOutcome::BrokenOff => crate::exit_code::INTERRUPTED.into(),
    })
}

fn workshop(
    project: &Project,
    folder: &HarnessFolder,
    settings: &WorkSettings,
    surroundings: &Surroundings,
) -> Result<Workshop, CliError> {
    let models = ModelsFile::load(project)?.unwrap_or_default();
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

fn without_settings(surroundings: &Surroundings) -> Surroundings {
    let mut without = surroundings.clone();
    without.environment.retain(|name, _| name != VARIABLE);
    without
}

/// Sends what the libraries trace to the log of the sub-harness.
fn start_logging(folder: &HarnessFolder) -> Result<(), CliError> {
    let log = HarnessLog::open(folder).map_err(|error| broken(&error))?;
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(LevelFilter::WARN)
        .with_writer(Mutex::new(log))
        .finish();
    // Only the first one counts, and there is one.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}
