//! `autonoe harness work`: the process of a member, with its settings and its log.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_app::telemetry::{Telemetry, parent_trace};
use autonoe_app::text::{Activity, lines, sanitize_line};
use autonoe_app::{AgentOptions, ChosenBackend, ModelsFile};
use autonoe_core::agent::ThinkingBudget;
use autonoe_core::event::TraceContext;
use autonoe_core::{Project, RunEvent, RunEventKind, RunObserver};
use autonoe_harness::folder::{MemberFolder, MemberLog};
use autonoe_harness::serve::ServeOutcome;
use autonoe_harness::{FleetHome, MemberServer, MemberWork};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::executor_factory::ExecutorFactory;
use super::fleet_selection::git;
use crate::args::HarnessWorkArgs;
use crate::cli_env::CliEnv;
use crate::commands::runtime::block_on;
use crate::commands::signals;
use crate::error::{CliError, OrFailure};
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
    let folder = MemberFolder::from_path(&path).or_failure()?;
    let home = FleetHome::from_member_folder(&folder).or_failure()?;
    let project = Project::find(home.project(), None)?;
    let models = ModelsFile::load(&project)?.unwrap_or_default();
    let trace = parent_trace(env);
    let telemetry = start_telemetry(&project, &folder, &models, trace.as_ref(), env)?;
    // The rest of the process does not need the settings and the keys of telemetry.
    let env = &without_settings(env, &settings);
    let mut executor_factory = build_executor_factory(&project, &folder, models, &settings, env)?;
    executor_factory.set_telemetry(telemetry.sessions());
    let git = git(&home, env);
    let executors = move |folder: &Path| executor_factory.executors(folder, trace.as_ref());
    let member = MemberWork::new(home, executors).git(git);
    let served = block_on(async {
        let serving = MemberServer::new(folder, Arc::new(member))
            .shutdown_signal(signals::wait_for_stop(), AGENT_TIMEOUT);
        serving.run().await.or_failure()
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
    let mut executor_factory = ExecutorFactory::load(project, models, settings.agent(), env)?;
    for (name, setting) in &settings.backends {
        let chosen = match &setting.backend {
            Some(setting) => ChosenBackend::from_flag(&setting.parse().map_err(CliError::failure)?),
            None => ChosenBackend::find(None, Some(project))?,
        };
        executor_factory.add(name, &chosen, setting.model.as_deref(), project)?;
    }
    executor_factory.set_default_backend(&settings.default_backend);
    let log = MemberLog::open(folder).or_failure()?;
    executor_factory.add_observer(Arc::new(LogLines(Mutex::new((log, Activity::default())))));
    Ok(executor_factory)
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
    let root = project.root();
    let telemetry = Telemetry::start(models, root, env, trace, Some(instance));
    let (telemetry, error) = match telemetry {
        Ok(telemetry) => (telemetry, None),
        Err(error) => (Telemetry::default(), Some(error)),
    };
    let log = MemberLog::open(folder).or_failure()?;
    start_log_file(log, telemetry.spans());
    if let Some(error) = error {
        tracing::warn!("telemetry is off: {error}");
    }
    Ok(telemetry)
}

/// Writes events of sessions to the log of a member, as the lines that a run prints.
#[derive(Debug)]
struct LogLines(Mutex<(MemberLog, Activity)>);

impl RunObserver for LogLines {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (log, activity) = &mut *state;
        activity.observe(&event.kind);
        // Each turn of a task is a flow with one session, so its start is noise.
        if matches!(event.kind, RunEventKind::FlowStarted { .. }) {
            return;
        }
        for line in lines(event, activity.tools()) {
            let line = format!("{} {}\n", Timestamp::now(), sanitize_line(&line.text));
            // A log that cannot be written does not interrupt the work.
            let _ = log.write_all(line.as_bytes());
        }
    }
}

/// Environment variable that holds the settings. Backends may contain secrets, which must be
/// neither in a file nor in arguments.
pub(super) const VARIABLE: &str = "AUTONOE_HARNESS_SETTINGS";

/// Settings for the process of a member, from the command that starts it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WorkSettings {
    /// The backends that the member may use, by name.
    pub(super) backends: BTreeMap<String, BackendSetting>,
    /// The backend of tasks without an explicit one.
    pub(super) default_backend: String,
    /// The thinking budget of agents, in tokens.
    pub(super) thinking: Option<u32>,
    /// Whether the sandbox is off.
    pub(super) no_sandbox: bool,
    /// Whether agents may delete and move files.
    pub(super) destructive: bool,
    /// The variables that only the telemetry of the member needs. Child processes do not inherit
    /// them.
    #[serde(default)]
    pub(super) telemetry_keys: Vec<String>,
}

/// A backend, as the command line describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BackendSetting {
    /// The value of `--backend`; `None` for the backend of the project.
    pub(super) backend: Option<String>,
    /// The model of tasks without an explicit one.
    pub(super) model: Option<String>,
}

impl WorkSettings {
    /// Reads the settings from the environment of this process.
    fn from_env(env: &CliEnv) -> Result<Self, CliError> {
        let invalid = |reason: &str| {
            let message = format!("{VARIABLE} is invalid: {reason}");
            CliError::usage(message).with_hint("`autonoe harness run` starts this command itself")
        };
        let text = env
            .variable(VARIABLE)
            .ok_or_else(|| invalid("it is not set"))?;
        // The error is not printed, because it may contain a secret.
        serde_json::from_str(text).map_err(|_| invalid("it has another format"))
    }

    /// Returns the options of all agents. Each backend has its own model.
    fn agent(&self) -> AgentOptions {
        AgentOptions {
            thinking: self
                .thinking
                .and_then(|tokens| ThinkingBudget::new(tokens).ok()),
            is_destructive: self.destructive,
            no_sandbox: self.no_sandbox,
            ..AgentOptions::default()
        }
    }
}
