//! [`Projects`]: the projects of this host.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_app::telemetry::SessionTelemetry;
use autonoe_app::{AgentOptions, ComposedSessionHost, Env, OnWarning};
use autonoe_core::engine::{ProjectName, SessionHost, SessionHostError};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::run::RunLimits;
use autonoe_core::{Project, RunId};
use autonoe_git_sync::SyncedSessionHost;
use autonoe_temporal::{SessionHosts, SessionsRun};
use serde::Deserialize;
use serde_json::Value;

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
        let project = if let Ok(work) = FleetWork::deserialize(&sessions.work) {
            self.remotes()?.task_project(&work, run)?
        } else {
            let project = sessions.project().map_err(|error| {
                let reason = format!("the run names no project: {error}");
                Failure::permanent("unknown_work", reason)
            })?;
            let Some(remotes) = &self.remotes else {
                return Ok(Arc::new(self.host(&self.folder(&project)?, sessions)));
            };
            remotes.synced_project(&project, run)?
        };
        let inner = self.host(project.project().root(), sessions);
        Ok(Arc::new(SyncedSessionHost::new(project, inner)))
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

    fn host(&self, folder: &Path, sessions: &SessionsRun) -> ComposedSessionHost {
        ComposedSessionHost {
            root: folder.to_owned(),
            mode: sessions.limits.mode,
            agent: self.agent.clone(),
            env: self.env.clone(),
            telemetry: self.telemetry.clone(),
            trace: sessions.trace.clone(),
            on_warning: self.on_warning.clone(),
        }
    }

    /// Checks whether sessions can run here, in a temporary project.
    pub(crate) async fn check(&self) -> Result<(), Failure> {
        let trial_error = |error: io::Error| Failure::from_error("trial", &error, Retry::Retryable);
        let folder = tempfile::tempdir().map_err(trial_error)?;
        fs::write(folder.path().join("SPEC.md"), "# A trial\n").map_err(trial_error)?;
        let sessions = SessionsRun::new(Value::Null, RunLimits::default());
        let host = self.host(folder.path(), &sessions);
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
        match &self.remotes {
            Some(remotes) => remotes.find_existing(name, run),
            None => Project::find(&self.folder(name)?, None)
                .map_err(|error| Failure::from_error("unreachable", &error, Retry::Retryable)),
        }
    }

    /// Finds the folder of a project. A project that is missing here may be on another host.
    fn folder(&self, project: &ProjectName) -> Result<PathBuf, Failure> {
        let found = project.path_below(&self.root).canonicalize();
        let found = found.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let reason = format!("the project {project} is not on this host");
                Failure::retryable("not_here", reason)
            }
            _ => {
                let reason = format!("the project {project} cannot be reached: {error}");
                Failure::retryable("unreachable", reason)
            }
        })?;
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
        let remotes = Remotes::below("/srv/git", "main", root.path(), commands);
        let projects = Projects::for_tests(root.path(), remotes.ok());
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
