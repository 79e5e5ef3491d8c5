//! Settings from the file and the command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_app::{AgentOptions, AppError};
use autonoe_core::project::ConfigFile;
use autonoe_temporal::TemporalSettings;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::args::{ServerArgs, WorkerArgs};

/// Default number of concurrent sessions.
const SLOTS: u16 = 4;

/// The settings file, for workers and clients. Clients ignore the settings of workers.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct SettingsFile {
    server: TemporalSettings,
    worker: IgnoredAny,
}

/// The settings of the file and the options, which take precedence.
pub(crate) struct Settings {
    pub(crate) server: TemporalSettings,
    file: Option<ConfigFile>,
}

impl Settings {
    /// Reads the settings file, if one is given.
    pub(crate) fn load(args: &ServerArgs) -> Result<Self, AppError> {
        let file = args.config.as_deref().map(load_file).transpose()?;
        let SettingsFile { mut server, .. } = read(file.as_ref(), "")?;
        for (option, setting) in [
            (&args.address, &mut server.address),
            (&args.namespace, &mut server.namespace),
            (&args.queue, &mut server.queue),
        ] {
            if let Some(value) = option {
                setting.clone_from(value);
            }
        }
        Ok(Self { server, file })
    }
}

/// The settings of a worker.
#[derive(Clone, Debug)]
pub(crate) struct WorkerSettings {
    pub(crate) server: TemporalSettings,
    pub(crate) worker: autonoe_temporal::WorkerSettings,
    /// The canonical folder of the projects.
    pub(crate) project_root: PathBuf,
    pub(crate) remote_root: Option<String>,
    pub(crate) base_branch: String,
    pub(crate) agent: AgentOptions,
}

impl WorkerSettings {
    /// Merges the settings file and the options, which take precedence.
    pub(crate) fn new(settings: Settings, args: &WorkerArgs) -> Result<Self, AppError> {
        let file: WorkerArgs = read(settings.file.as_ref(), "/worker")?;
        let args = args.clone();
        let slots = args.slots.or(file.slots).unwrap_or(SLOTS);
        if slots == 0 {
            return Err(AppError::usage("a worker needs at least one slot"));
        }
        let root = args.project_root.or(file.project_root).ok_or_else(|| {
            AppError::usage("the project root is missing: set it with --project-root FOLDER")
        })?;
        let project_root = root.canonicalize().map_err(|error| {
            AppError::failure(format!("{} cannot be read: {error}", root.display()))
        })?;
        Ok(Self {
            server: settings.server,
            worker: autonoe_temporal::WorkerSettings {
                host: args.host.or(file.host).unwrap_or_else(host_name),
                slots: slots.into(),
                shutdown_grace: Duration::from_secs(file.shutdown_grace_secs),
            },
            project_root,
            remote_root: args.remote_root.or(file.remote_root),
            base_branch: file.base_branch.unwrap_or_else(|| "main".to_owned()),
            agent: AgentOptions {
                backend: args.backend.or(file.backend),
                model: args.model.or(file.model),
                plan_model: args.plan_model.or(file.plan_model),
                thinking: args.thinking.or(file.thinking),
                is_destructive: args.allow_destructive || file.allow_destructive,
                no_sandbox: args.no_sandbox || file.no_sandbox,
            },
        })
    }
}

/// Returns the host name of the machine.
fn host_name() -> String {
    let machine = rustix::system::uname();
    machine.nodename().to_string_lossy().into_owned()
}

fn load_file(path: &Path) -> Result<ConfigFile, AppError> {
    let file = ConfigFile::load(path).map_err(|error| AppError::from(error).into_usage())?;
    file.ok_or_else(|| {
        let message = format!("{} cannot be read: it does not exist", path.display());
        AppError::failure(message)
    })
}

/// Reads a part of the settings file. Missing settings have their defaults.
fn read<T: DeserializeOwned + Default>(
    file: Option<&ConfigFile>,
    pointer: &str,
) -> Result<T, AppError> {
    let part = file.map(|file| file.read(pointer)).transpose();
    let part = part.map_err(|error| AppError::from(error).into_usage())?;
    Ok(part.flatten().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        assert_eq!(
            (file.worker.slots, file.worker.host.as_str()),
            (2, "build-1")
        );
        assert_eq!(backend(&file).as_deref(), Some("codex"));
        assert_eq!(file.base_branch, "main");
        assert_eq!(options.server.queue, "other");
        assert_eq!(options.worker.slots, 3);
        assert_eq!(backend(&options).as_deref(), Some("gemini"));
    }

    #[test]
    fn a_client_ignores_wrong_settings_of_workers() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cluster.json");
        let file = r#"{"server": {"queue": "shop"}, "worker": {"backend": "nobody"}}"#;
        fs::write(&path, file).expect("writable");
        let config = path.to_str().expect("text");
        let cli = Cli::parse_from(["autonoe-cluster", "list", "--config", config]);

        let settings = Settings::load(&cli.server).expect("its own settings are right");

        assert_eq!(settings.server.queue, "shop");
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (file, name) in [
            (r#"{"worker": {"slot": 2}}"#, "slot"),
            (
                r#"{"worker": {"projectRoot": "/", "backend": "nobody"}}"#,
                "/worker/backend",
            ),
            (
                r#"{"worker": {"projectRoot": "/", "thinking": 1}}"#,
                "/worker/thinking",
            ),
            (r#"{"worker": {"slots": 0}}"#, "slot"),
            ("{}", "--project-root"),
        ] {
            let error = settings(file, &[]).expect_err("it is wrong").to_string();

            assert!(error.contains(name), "{error}");
        }
    }
}
