//! [`Projects`]: the projects of this host.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_app::telemetry::SessionTelemetry;
use autonoe_app::{AgentOptions, ComposedSessionHost, Env, OnWarning};
use autonoe_core::engine::{ProjectName, SessionHost, SessionHostError};
use autonoe_core::event::{Failure, Retry, TraceContext};
use autonoe_core::{Mode, Project, RunId};
use autonoe_git_sync::{SyncedProject, SyncedSessionHost};
use autonoe_temporal::{SessionHosts, SessionsRun};
use serde::Deserialize;

use crate::fleet_work::FleetWork;
use crate::remotes::Remotes;

/// Finds projects below a folder, and hosts their sessions in this process.
///
/// The submitter of a run names the project and the limits. The agent and its guards are those of
/// the worker.
pub(crate) struct Projects {
    /// Canonical path.
    pub(crate) root: PathBuf,
    pub(crate) remotes: Option<Remotes>,
    pub(crate) agent: AgentOptions,
    pub(crate) env: Env,
    pub(crate) telemetry: SessionTelemetry,
    pub(crate) on_warning: Arc<OnWarning>,
}

impl SessionHosts for Projects {
    fn find(&self, run: &RunId, sessions: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        if let Ok(work) = FleetWork::deserialize(&sessions.work) {
            let project = self.remotes()?.task_project(&work, run, &self.root)?;
            return Ok(Arc::new(self.synced_host(project, sessions)));
        }
        let project = sessions.project().map_err(|error| {
            let reason = format!("the run names no project: {error}");
            Failure::permanent("unknown_work", reason)
        })?;
        let Some(remotes) = &self.remotes else {
            let folder = self.folder(&project)?;
            return Ok(Arc::new(self.host_of(&folder, sessions)));
        };
        let project = remotes.synced_project(&project, run, &self.root)?;
        Ok(Arc::new(self.synced_host(project, sessions)))
    }
}

impl Projects {
    /// Returns the repositories of projects that move between hosts.
    pub(crate) fn remotes(&self) -> Result<&Remotes, Failure> {
        self.remotes.as_ref().ok_or_else(|| {
            let reason = "this worker has no --remote-root, which fleets need";
            Failure::permanent("no_remote_root", reason)
        })
    }

    fn synced_host(&self, project: SyncedProject, sessions: &SessionsRun) -> SyncedSessionHost {
        let inner = self.host_of(project.project().root(), sessions);
        SyncedSessionHost::new(project, inner)
    }

    fn host_of(&self, folder: &Path, sessions: &SessionsRun) -> ComposedSessionHost {
        self.host(folder, sessions.limits.mode, sessions.trace.clone())
    }

    fn host(&self, folder: &Path, mode: Mode, trace: Option<TraceContext>) -> ComposedSessionHost {
        ComposedSessionHost {
            root: folder.to_owned(),
            mode,
            agent: self.agent.clone(),
            env: self.env.clone(),
            telemetry: self.telemetry.clone(),
            trace,
            on_warning: self.on_warning.clone(),
        }
    }

    /// Checks whether sessions can run here, in a temporary project.
    pub(crate) async fn check(&self) -> Result<(), Failure> {
        let trial_error = |error: io::Error| Failure::from_error("trial", &error, Retry::Retryable);
        let folder = tempfile::tempdir().map_err(trial_error)?;
        fs::write(folder.path().join("SPEC.md"), "# A trial\n").map_err(trial_error)?;
        let host = self.host(folder.path(), Mode::Run, None);
        match host.claim(&RunId::new("trial")).await {
            Ok(_) => Ok(()),
            Err(SessionHostError::Failed { failure, .. }) => Err(failure),
            Err(error) => Err(Failure::permanent("trial", error.to_string())),
        }
    }

    #[cfg(test)]
    pub(crate) fn for_tests(root: &Path, remotes: Option<Remotes>) -> Self {
        Self {
            root: root.canonicalize().expect("it is there"),
            remotes,
            agent: AgentOptions::default(),
            env: Env {
                working_dir: root.to_owned(),
                environment: std::collections::BTreeMap::new(),
            },
            telemetry: SessionTelemetry::default(),
            on_warning: Arc::new(|_| {}),
        }
    }

    /// Finds the project of a run for reading. Nothing is created or fetched.
    pub(crate) fn find_existing(
        &self,
        name: &ProjectName,
        run: &RunId,
    ) -> Result<Project, Failure> {
        let Some(remotes) = &self.remotes else {
            let folder = self.folder(name)?;
            return Project::find(&folder, None)
                .map_err(|error| Failure::from_error("unreachable", &error, Retry::Retryable));
        };
        remotes.check(name, run, &self.root)?;
        if !remotes.home(name, run, &self.root).is_dir() {
            let reason = format!("the run {run} was not on this host");
            return Err(Failure::retryable("not_here", reason));
        }
        let synced_project = remotes.synced_project(name, run, &self.root)?;
        Ok(synced_project.project().clone())
    }

    /// Finds the folder of a project. A project that is missing here may be on another host.
    fn folder(&self, project: &ProjectName) -> Result<PathBuf, Failure> {
        let place = project.path_below(&self.root);
        let found = match place.canonicalize() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let reason = format!("the project {project} is not on this host");
                return Err(Failure::retryable("not_here", reason));
            }
            Err(error) => {
                let reason = format!("the project {project} cannot be reached: {error}");
                return Err(Failure::retryable("unreachable", reason));
            }
        };
        if found.starts_with(&self.root) && found.is_dir() {
            Ok(found)
        } else {
            let reason = format!("the project {project} is not a folder inside the project root");
            Err(Failure::permanent("outside", reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use autonoe_core::run::RunLimits;
    use serde_json::json;

    use super::*;

    fn refused(root: &Path, work: serde_json::Value) -> Failure {
        let run = SessionsRun::new(work, RunLimits::default());
        let host = Projects::for_tests(root, None).find(&RunId::new("r"), &run);
        host.err().expect("it is refused")
    }

    #[test]
    fn missing_project_is_a_retryable_failure() {
        let root = tempfile::tempdir().expect("a folder");

        let failure = refused(root.path(), json!({"project": "shop"}));

        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("not_here", Retry::Retryable)
        );
    }

    #[test]
    fn symlink_out_of_the_project_root_is_refused() {
        let (root, outside) = (
            tempfile::tempdir().expect("one"),
            tempfile::tempdir().expect("two"),
        );
        symlink(outside.path(), root.path().join("shop")).expect("a link");

        let failure = refused(root.path(), json!({"project": "shop"}));

        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("outside", Retry::Permanent)
        );
    }

    #[test]
    fn submitter_cannot_choose_the_remote() {
        let root = tempfile::tempdir().expect("a folder");
        let commands = autonoe_process::ProcessRunner::unconfined("/");
        let remotes = Remotes::below("/srv/git", "main", commands).expect("an address");
        let projects = Projects::for_tests(root.path(), Some(remotes));
        let task = autonoe_harness::Task::new("parser", "Read sums.").expect("a task");
        let work = |repository: &str| json!({"repository": repository, "task": task});
        let find = |work| {
            let run = SessionsRun::new(work, RunLimits::default());
            projects.find(&RunId::new("night.parser"), &run)
        };

        let foreign = find(work("https://elsewhere.example/shop.git"));
        let own = find(work("/srv/git/shop.git"));

        let failure = foreign.err().expect("it is refused");
        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("foreign_repository", Retry::Permanent)
        );
        assert!(own.is_ok());
        assert!(root.path().join("shop/night.parser/project").is_dir());
    }

    #[test]
    fn submitter_cannot_choose_the_backend() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join("shop")).expect("a folder");

        let failure = refused(root.path(), json!({"project": "shop", "backend": "acp:sh"}));

        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("unknown_work", Retry::Permanent)
        );
    }
}
