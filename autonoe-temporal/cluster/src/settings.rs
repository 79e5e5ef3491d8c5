//! Settings from the file and the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_app::{AgentOptions, AppError, BackendChoice, error_chain};
use autonoe_core::agent::ThinkingBudget;
use autonoe_temporal::TemporalSettings;
use serde::Deserialize;
use serde_json::Value;

use crate::args::{ServerArgs, WorkerArgs};

/// Default number of concurrent sessions.
const SLOTS: u16 = 4;

/// The settings file, for workers and clients.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) server: TemporalSettings,
    worker: WorkerConfig,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct WorkerConfig {
    host: Option<String>,
    slots: Option<u16>,
    shutdown_grace_secs: u64,
    project_root: Option<PathBuf>,
    remote_root: Option<String>,
    base_branch: Option<String>,
    /// A name as on the command line, or a backend object.
    backend: Option<Value>,
    model: Option<String>,
    plan_model: Option<String>,
    thinking: Option<u32>,
    allow_destructive: bool,
    no_sandbox: bool,
}

impl Settings {
    /// Reads the settings file, if one is given. Options take precedence.
    pub(crate) fn load(args: &ServerArgs) -> Result<Self, AppError> {
        let mut settings = match &args.config {
            Some(path) => read(path)?,
            None => Self::default(),
        };
        let server = &mut settings.server;
        for (option, setting) in [
            (&args.address, &mut server.address),
            (&args.namespace, &mut server.namespace),
            (&args.queue, &mut server.queue),
        ] {
            if let Some(value) = option {
                setting.clone_from(value);
            }
        }
        Ok(settings)
    }
}

/// The settings of a worker.
#[derive(Clone, Debug)]
pub(crate) struct WorkerSettings {
    pub(crate) server: TemporalSettings,
    pub(crate) host: String,
    pub(crate) slots: usize,
    pub(crate) shutdown_grace: Duration,
    /// The canonical folder of the projects.
    pub(crate) project_root: PathBuf,
    pub(crate) remote_root: Option<String>,
    pub(crate) base_branch: String,
    pub(crate) agent: AgentOptions,
}

impl WorkerSettings {
    pub(crate) fn new(settings: Settings, args: &WorkerArgs) -> Result<Self, AppError> {
        let Settings { server, worker } = settings;
        let slots = args.slots.or(worker.slots).unwrap_or(SLOTS);
        if slots == 0 {
            return Err(AppError::usage("a worker needs at least one slot"));
        }
        let root = args.project_root.clone().or(worker.project_root.clone());
        let root = root.ok_or_else(|| {
            AppError::usage("the project root is missing: set it with --project-root FOLDER")
        })?;
        let project_root = root.canonicalize().map_err(|error| {
            AppError::failure(format!("{} cannot be read: {error}", root.display()))
        })?;
        Ok(Self {
            server,
            host: args
                .host
                .clone()
                .or(worker.host.clone())
                .unwrap_or_else(host_name),
            slots: slots.into(),
            shutdown_grace: Duration::from_secs(worker.shutdown_grace_secs),
            project_root,
            remote_root: args.remote_root.clone().or(worker.remote_root.clone()),
            base_branch: worker
                .base_branch
                .clone()
                .unwrap_or_else(|| "main".to_owned()),
            agent: worker.agent(args)?,
        })
    }
}

impl WorkerConfig {
    /// Returns the agent options. Options take precedence over the file.
    fn agent(self, args: &WorkerArgs) -> Result<AgentOptions, AppError> {
        let options = args.agent();
        let wrong = |name: &str, reason: String| {
            AppError::usage(format!(
                "the setting worker.{name} cannot be used: {reason}"
            ))
        };
        let backend = self.backend.map(|backend| {
            let word = match backend {
                Value::String(name) => name,
                spec => spec.to_string(),
            };
            let choice = word.parse::<BackendChoice>();
            choice.map_err(|reason| wrong("backend", reason))
        });
        let thinking = self.thinking.map(|tokens| {
            ThinkingBudget::new(tokens).map_err(|error| wrong("thinking", error.to_string()))
        });
        Ok(AgentOptions {
            backend: options.backend.or(backend.transpose()?),
            model: options.model.or(self.model),
            plan_model: options.plan_model.or(self.plan_model),
            thinking: options.thinking.or(thinking.transpose()?),
            is_destructive: options.is_destructive || self.allow_destructive,
            no_sandbox: options.no_sandbox || self.no_sandbox,
        })
    }
}

/// Returns the host name of the machine.
fn host_name() -> String {
    let machine = rustix::system::uname();
    machine.nodename().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<Settings, AppError> {
    let text = fs::read(path).map_err(|error| {
        AppError::failure(format!("{} cannot be read: {error}", path.display()))
    })?;
    serde_json::from_slice(&text).map_err(|error| {
        let reason = error_chain(&error);
        AppError::usage(format!(
            "{} is not a valid settings file: {reason}",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn settings(file: &str, args: &[&str]) -> Result<WorkerSettings, AppError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("worker.json");
        fs::write(&path, file).expect("writable");
        let config = path.to_str().expect("text");
        let own = ["autonoe-cluster", "worker", "--config", config];
        let cli = Cli::parse_from(own.iter().chain(args));
        let Command::Worker(args) = &cli.command else {
            panic!("{cli:?}");
        };
        WorkerSettings::new(Settings::load(&cli.server)?, args)
    }

    const FILE: &str = r#"{
        "server": {"address": "http://temporal.example:7233", "queue": "shop"},
        "worker": {"slots": 2, "host": "build-1", "projectRoot": "/", "backend": "codex",
            "thinking": 2048}
    }"#;

    #[test]
    fn options_count_more_than_the_file() {
        let file = settings(FILE, &[]).expect("it is right");
        let options = ["--queue", "other", "--backend", "gemini", "--slots=3"];
        let options = settings(FILE, &options).expect("it is right");

        let backend = |settings: &WorkerSettings| {
            let backend = settings.agent.backend.as_ref();
            backend.map(|backend| backend.tag().to_owned())
        };
        assert_eq!(file.server.address, "http://temporal.example:7233");
        assert_eq!((file.slots, file.host.as_str()), (2, "build-1"));
        assert_eq!(backend(&file).as_deref(), Some("codex"));
        assert_eq!(file.base_branch, "main");
        assert_eq!(options.server.queue, "other");
        assert_eq!(options.slots, 3);
        assert_eq!(backend(&options).as_deref(), Some("gemini"));
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (file, name) in [
            (r#"{"worker": {"slot": 2}}"#, "slot"),
            (
                r#"{"worker": {"projectRoot": "/", "backend": "nobody"}}"#,
                "worker.backend",
            ),
            (
                r#"{"worker": {"projectRoot": "/", "thinking": 1}}"#,
                "worker.thinking",
            ),
            (r#"{"worker": {"slots": 0}}"#, "slot"),
            ("{}", "--project-root"),
        ] {
            let error = settings(file, &[]).expect_err("it is wrong").to_string();

            assert!(error.contains(name), "{error}");
        }
    }
}
