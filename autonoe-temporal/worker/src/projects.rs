//! The projects of this host.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::{
    Failure, Mode, Project, ProjectName, Retry, RunId, SessionHost, SessionHostError,
};
use autonoe_harness::{PipedProgram, ProgramSessionHost, TravellingHost};
use autonoe_temporal::{SessionHosts, SessionsRun};

use crate::remotes::Remotes;

/// Finds projects below a folder, and has `autonoe` carry out sessions in them.
///
/// Who submits a run says which project it is about, and its limits. What is started here, and
/// where, is said by who started the worker.
pub(crate) struct Projects {
    /// Without symbolic links.
    pub(crate) root: PathBuf,
    pub(crate) remotes: Option<Remotes>,
    pub(crate) autonoe: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
}

impl SessionHosts for Projects {
    fn of(&self, run: &RunId, what: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        let project = what.project().map_err(|error| {
            let why = format!("the run does not say on which project it works: {error}");
            Failure::permanent("unknown_work", why)
        })?;
        let mode = what.limits.mode;
        let Some(remotes) = &self.remotes else {
            let folder = self.folder(&project)?;
            return Ok(self.program(&folder, mode));
        };
        let travels = remotes.travelling(&project, run, &self.root)?;
        let here = self.program(travels.project().root(), mode);
        Ok(Arc::new(TravellingHost::new(travels, here)))
    }
}

impl Projects {
    fn program(&self, folder: &Path, mode: Mode) -> Arc<dyn SessionHost> {
        let program = PipedProgram::new(&self.autonoe, folder)
            .args([
                "session-host".to_owned(),
                "--mode".to_owned(),
                mode.to_string(),
            ])
            .args(self.arguments.iter().cloned())
            .envs(self.environment.clone());
        Arc::new(ProgramSessionHost::new(program))
    }

    /// Tries whether sessions can be carried out here, in a project of its own that is gone afterwards.
    pub(crate) async fn try_out(&self) -> Result<(), Failure> {
        let unmade = |error: io::Error| Failure::from_error("trial", &error, Retry::MayHelp);
        let folder = tempfile::tempdir().map_err(unmade)?;
        fs::write(folder.path().join("SPEC.md"), "# A trial\n").map_err(unmade)?;
        let host = self.program(folder.path(), Mode::Run);
        match host.claim(&RunId::new("trial")).await {
            Ok(_) => Ok(()),
            Err(SessionHostError::Failed { failure, .. }) => Err(failure),
            Err(error) => Err(Failure::permanent("trial", error.to_string())),
        }
    }

    /// Finds the project of a run for who only reads there. Nothing is made or fetched.
    pub(crate) fn known(&self, name: &ProjectName, run: &RunId) -> Result<Project, Failure> {
        let Some(remotes) = &self.remotes else {
            let folder = self.folder(name)?;
            return Project::find(&folder, None)
                .map_err(|error| Failure::from_error("unreachable", &error, Retry::MayHelp));
        };
        remotes.check(name, run, &self.root)?;
        if !remotes.home(name, run, &self.root).is_dir() {
            let why = format!("the run {run} was not on this host");
            return Err(Failure::retryable("not_here", why));
        }
        let travels = remotes.travelling(name, run, &self.root)?;
        Ok(travels.project().clone())
    }

    /// Finds the folder of a project. One that is not here may be on another host.
    fn folder(&self, project: &ProjectName) -> Result<PathBuf, Failure> {
        let place = project.below(&self.root);
        let found = match place.canonicalize() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let why = format!("the project {project} is not on this host");
                return Err(Failure::retryable("not_here", why));
            }
            Err(error) => {
                let why = format!("the project {project} cannot be reached: {error}");
                return Err(Failure::retryable("unreachable", why));
            }
        };
        match found.starts_with(&self.root) && found.is_dir() {
            true => Ok(found),
            false => {
                let why = format!("the project {project} is no folder below that of the projects");
                Err(Failure::permanent("outside", why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use autonoe_core::RunLimits;
    use serde_json::json;

    use super::*;

    fn projects(root: &Path) -> Projects {
        Projects {
            root: root.canonicalize().expect("it is there"),
            remotes: None,
            autonoe: "/usr/bin/autonoe".into(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
        }
    }

    fn refused(root: &Path, work: serde_json::Value) -> Failure {
        let run = SessionsRun::new(work, RunLimits::default());
        let host = projects(root).of(&RunId::new("r"), &run);
        host.err().expect("it is refused")
    }

    #[test]
    fn a_project_that_is_not_here_may_be_elsewhere() {
        let root = tempfile::tempdir().expect("a folder");

        let failure = refused(root.path(), json!({"project": "shop"}));

        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("not_here", Retry::MayHelp)
        );
    }

    #[test]
    fn a_link_that_leads_out_of_the_folder_is_refused() {
        let (root, elsewhere) = (
            tempfile::tempdir().expect("one"),
            tempfile::tempdir().expect("two"),
        );
        symlink(elsewhere.path(), root.path().join("shop")).expect("a link");

        let failure = refused(root.path(), json!({"project": "shop"}));

        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("outside", Retry::Useless)
        );
    }

    #[test]
    fn who_submits_a_run_cannot_say_what_is_started() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join("shop")).expect("a folder");

        let failure = refused(root.path(), json!({"project": "shop", "backend": "acp:sh"}));

        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("unknown_work", Retry::Useless)
        );
    }
}
