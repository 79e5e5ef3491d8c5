//! `autonoe harness work`: the process of a member.

mod log_lines;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use autonoe_app::telemetry::{Telemetry, parent_trace};
use autonoe_app::{ChosenBackend, ModelsFile, sandbox_switch};
use autonoe_core::Project;
use autonoe_core::event::TraceContext;
use autonoe_harness::folder::{MemberFolder, MemberLog};
use autonoe_harness::serve::ServeOutcome;
use autonoe_harness::{FleetHome, MemberServer, MemberWork};

use self::log_lines::LogLines;
use super::executor_factory::{ExecutorFactory, Rules};
use super::git::git;
use super::settings::{VARIABLE, WorkSettings};
use super::{block_on, state_error};
use crate::args::HarnessWorkArgs;
use crate::cli_env::CliEnv;
use crate::commands::signals;
use crate::error::CliError;
use crate::present::start_log_file;

/// Time limit for an agent to end when this process is stopped: shorter than the wait of the
/// coordinator.
const AGENT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time limit of the last export when this process is stopped: together with [`AGENT_TIMEOUT`],
/// shorter than the wait of the coordinator.
const LEAVE_LIMIT: Duration = Duration::from_millis(1500);

/// Time limit of the last export of a finished member. Other members may wait for its end.
const EXPORT_LIMIT: Duration = Duration::from_secs(10);

/// Serves the folder of a member.
pub(super) fn work(args: &HarnessWorkArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let settings = WorkSettings::from_env(env)?;
    let path = env.working_dir.join(&args.folder);
    let folder = MemberFolder::from_path(&path).map_err(|error| state_error(&error))?;
    let home = FleetHome::from_member_folder(&folder).map_err(|error| state_error(&error))?;
    let project = Project::find(home.project(), None)?;
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let trace = parent_trace(env);
    let telemetry = start_telemetry(&project, &folder, &models, trace.as_ref(), env)?;
    // The rest of the process does not need the settings and the keys of telemetry.
    let env = &without_settings(env, &settings);
    let mut workshop = build_executor_factory(&project, &folder, models, &settings, env)?;
    workshop.set_telemetry(telemetry.sessions());
    let git = git(&home, env);
    let executors = move |folder: &Path| workshop.executors(folder, trace.as_ref());
    let member = MemberWork::new(home, executors).git(git);
    let served = block_on(async {
        let serving = MemberServer::new(folder, Arc::new(member))
            .shutdown_signal(signals::wait_for_stop(), AGENT_TIMEOUT);
        serving.run().await.map_err(|error| state_error(&error))
    });
    let limit = match &served {
        Ok(ServeOutcome::Ended(_)) => EXPORT_LIMIT,
        Ok(ServeOutcome::Released) | Err(_) => LEAVE_LIMIT,
    };
    if let Some(warning) = telemetry.finish_within(limit) {
        tracing::warn!("{warning}");
    }
    Ok(match served? {
        ServeOutcome::Ended(_) => ExitCode::SUCCESS,
        ServeOutcome::Released => autonoe_app::exit_code::INTERRUPTED.into(),
    })
}

fn build_executor_factory(
    project: &Project,
    folder: &MemberFolder,
    models: ModelsFile,
    settings: &WorkSettings,
    env: &CliEnv,
) -> Result<ExecutorFactory, CliError> {
    let rules = Rules {
        switch: sandbox_switch(settings.no_sandbox, env),
        destructive: settings.destructive(),
        thinking: settings.thinking(),
    };
    let mut workshop = ExecutorFactory::load(project, models, rules, env)?;
    for (name, word) in &settings.backends {
        let chosen = match &word.backend {
            Some(word) => ChosenBackend::from_flag(&word.parse().map_err(CliError::failure)?),
            None => ChosenBackend::find(None, Some(project))?,
        };
        workshop.add(name, &chosen, word.model.as_deref(), project)?;
    }
    workshop.set_default_backend(&settings.default_backend);
    let log = MemberLog::open(folder).map_err(|error| state_error(&error))?;
    workshop.add_observer(Arc::new(LogLines::new(log)));
    Ok(workshop)
}

fn without_settings(env: &CliEnv, settings: &WorkSettings) -> CliEnv {
    let mut reduced = env.clone();
    let is_key = |name: &OsString| {
        settings
            .telemetry_keys
            .iter()
            .any(|key| name == key.as_str())
    };
    reduced
        .env
        .environment
        .retain(|name, _| name != VARIABLE && !is_key(name));
    reduced
}

/// Starts the export of telemetry below the coordinator's span for this member, and the log of the
/// member.
fn start_telemetry(
    project: &Project,
    folder: &MemberFolder,
    models: &ModelsFile,
    trace: Option<&TraceContext>,
    env: &CliEnv,
) -> Result<Telemetry, CliError> {
    // Members export the same metrics concurrently. The instance ID keeps them apart.
    let instance = match trace {
        Some(trace) => format!("{}-{}", folder.id(), trace.span()),
        None => folder.id().to_string(),
    };
    let section = &models.telemetry;
    let root = project.root();
    let telemetry = Telemetry::start(section, root, env, trace, Some(instance));
    let (telemetry, error) = match telemetry {
        Ok(telemetry) => (telemetry, None),
        Err(error) => (Telemetry::default(), Some(error)),
    };
    let log = MemberLog::open(folder).map_err(|error| state_error(&error))?;
    start_log_file(log, telemetry.spans());
    if let Some(error) = error {
        tracing::warn!("telemetry is off: {error}");
    }
    Ok(telemetry)
}
