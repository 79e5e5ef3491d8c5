//! What the program is to do, from its file and its command line.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_temporal::TemporalSettings;
use serde::Deserialize;

use crate::args::Args;
use crate::error::WorkerProblem;

/// How many sessions are carried out at once, if nobody says.
const SLOTS: u16 = 4;

/// The settings file. The same one serves workers and who submits to them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct File {
    server: TemporalSettings,
    worker: FileWorker,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct FileWorker {
    host: Option<String>,
    slots: Option<u16>,
    farewell_secs: u64,
    project_root: Option<PathBuf>,
    remote_root: Option<String>,
    base_branch: Option<String>,
    autonoe: Option<PathBuf>,
    arguments: Vec<String>,
}

/// What the program is to do.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) server: TemporalSettings,
    pub(crate) host: Option<String>,
    pub(crate) slots: usize,
    pub(crate) farewell: Duration,
    pub(crate) project_root: Option<PathBuf>,
    pub(crate) remote_root: Option<String>,
    pub(crate) base_branch: String,
    pub(crate) autonoe: Option<PathBuf>,
    pub(crate) arguments: Vec<OsString>,
}

impl Settings {
    /// Reads the file, if one is named; the command line counts more.
    pub(crate) fn load(args: &Args) -> Result<Self, WorkerProblem> {
        let file = args.config.as_deref().map(read).transpose()?;
        let settings = Self::of(args, file.unwrap_or_default());
        match settings.slots {
            0 => Err(WorkerProblem::usage("a worker needs at least one slot")),
            _ => Ok(settings),
        }
    }

    fn of(args: &Args, file: File) -> Self {
        let File { mut server, worker } = file;
        if let Some(address) = &args.address {
            server.address.clone_from(address);
        }
        if let Some(namespace) = &args.namespace {
            server.namespace.clone_from(namespace);
        }
        if let Some(queue) = &args.queue {
            server.queue.clone_from(queue);
        }
        let arguments = match args.session_host.is_empty() {
            true => worker.arguments.into_iter().map(Into::into).collect(),
            false => args.session_host.clone(),
        };
        Self {
            server,
            host: args.host.clone().or(worker.host),
            slots: args.slots.or(worker.slots).unwrap_or(SLOTS).into(),
            farewell: Duration::from_secs(worker.farewell_secs),
            project_root: args.project_root.clone().or(worker.project_root),
            remote_root: args.remote_root.clone().or(worker.remote_root),
            base_branch: worker.base_branch.unwrap_or_else(|| "main".to_owned()),
            autonoe: args.autonoe.clone().or(worker.autonoe),
            arguments,
        }
    }

    /// Returns the folder of the projects.
    pub(crate) fn root(&self) -> Result<PathBuf, WorkerProblem> {
        let Some(root) = &self.project_root else {
            return Err(WorkerProblem::usage(
                "say where the projects are: --project-root FOLDER",
            ));
        };
        root.canonicalize()
            .map_err(|source| WorkerProblem::unreadable(root, source))
    }

    /// Returns the name of the host.
    pub(crate) fn host(&self) -> String {
        match &self.host {
            Some(host) => host.clone(),
            None => {
                let machine = rustix::system::uname();
                machine.nodename().to_string_lossy().into_owned()
            }
        }
    }

    /// Finds the program that carries out sessions: the one that was named, else one beside this
    /// program, else one on the path.
    pub(crate) fn autonoe(&self) -> Result<PathBuf, WorkerProblem> {
        let beside = env::current_exe().ok();
        let beside = beside.as_deref().and_then(Path::parent).map(Path::to_owned);
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = beside.into_iter().chain(env::split_paths(&path));
        let found = match &self.autonoe {
            Some(named) => named.canonicalize().ok().filter(|path| path.is_file()),
            None => folders
                .map(|folder| folder.join("autonoe"))
                .find(|path| path.is_file()),
        };
        found.ok_or_else(|| WorkerProblem::NoProgram {
            named: self.autonoe.clone(),
        })
    }
}

fn read(path: &Path) -> Result<File, WorkerProblem> {
    let text = fs::read(path).map_err(|source| WorkerProblem::unreadable(path, source))?;
    serde_json::from_slice(&text).map_err(|source| WorkerProblem::Settings {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn settings(file: &str, args: &[&str]) -> Result<Settings, WorkerProblem> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("worker.json");
        fs::write(&path, file).expect("writable");
        let config = path.to_str().expect("text");
        let own = ["autonoe-worker", "--config", config];
        Settings::load(&Args::parse_from(own.iter().chain(args)))
    }

    const FILE: &str = r#"{
        "server": {"address": "http://temporal.example:7233", "queue": "shop"},
        "worker": {"slots": 2, "host": "build-1", "arguments": ["--backend", "codex"]}
    }"#;

    #[test]
    fn the_file_says_what_the_command_line_does_not() {
        let settings = settings(FILE, &["--queue", "other"]).expect("it is right");

        assert_eq!(settings.server.address, "http://temporal.example:7233");
        assert_eq!(settings.server.queue, "other");
        assert_eq!((settings.slots, settings.host()), (2, "build-1".to_owned()));
        assert_eq!(settings.arguments, ["--backend", "codex"]);
        assert_eq!(settings.base_branch, "main");
    }

    #[test]
    fn a_word_that_means_nothing_is_an_error_with_its_place() {
        let error = settings(r#"{"worker": {"slot": 2}}"#, &[]).expect_err("a wrong word");

        assert!(error.to_string().contains("worker.json"), "{error}");
        assert!(error.detail().contains("slot"), "{}", error.detail());
    }

    #[test]
    fn a_worker_without_slots_or_projects_is_refused() {
        let no_slots = settings(r#"{"worker": {"slots": 0}}"#, &[]);
        let no_root = settings("{}", &[]).expect("it is right").root();

        assert!(matches!(no_slots, Err(WorkerProblem::Usage(_))));
        assert!(matches!(no_root, Err(WorkerProblem::Usage(_))));
    }

    #[test]
    fn a_program_that_was_named_must_be_there() {
        let settings = settings("{}", &["--autonoe", "no/such/autonoe"]).expect("it is right");

        let error = settings.autonoe().expect_err("it is not there");

        assert!(error.to_string().contains("no/such/autonoe"), "{error}");
    }
}
