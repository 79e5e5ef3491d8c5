//! Launches a program inside the outer sandbox of [`SandboxConfig`].

use std::path::{Path, PathBuf};

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::{AgentError, Capabilities, SessionSpec};
use autonoe_process::{Launch, Network, OsSandbox};

use super::sandbox::sandbox_error;
use super::{SandboxConfig, SandboxNetwork, SessionDirectory};

/// Directories that are empty in every sandbox.
const EMPTY: [&str; 2] = ["/tmp", "/run"];

/// A program, and the paths that it needs inside its sandbox beside the project and the folder of
/// the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxMounts {
    /// The program. It stays readable even if it is in `/tmp` or in a hidden folder.
    pub program: PathBuf,
    /// Other files that the program consists of. They stay readable, too.
    pub readable: Vec<PathBuf>,
    /// Paths that the program writes to, beside the folder of the session. They must exist.
    pub writable: Vec<PathBuf>,
    /// Entries of the folder of the session that are read-only. They must exist.
    pub read_only: Vec<PathBuf>,
    /// Paths that are hidden from the program, if they exist.
    pub hidden: Vec<PathBuf>,
}

impl SandboxConfig {
    /// Builds the launch of a program for `spec`: in the directory of the session, with the lock of
    /// the run, and inside the sandbox if it is needed.
    ///
    /// `claimed` are the capabilities of the backend. A session that sets a field which they do not
    /// claim is refused, even if the backend did not call [`SessionSpec::refuse_unclaimed`]: a
    /// session that requires a sandbox never starts without one.
    ///
    /// The first sandbox of a bubblewrap is tried before the launch. Later ones are only created
    /// with their program: if one fails, [`explain`](Self::explain) finds the reason.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`SessionSpec::refuse_unclaimed`] and
    /// `is_needed`, and an error if the sandbox cannot be created.
    pub async fn launch(
        &self,
        spec: &SessionSpec,
        claimed: &Capabilities,
        session_dir: SessionDirectory,
        mounts: &SandboxMounts,
    ) -> Result<Launch, AgentError> {
        spec.refuse_unclaimed(claimed)?;
        let mut launch = if self.is_needed(spec)? {
            let own = [session_dir.path(), session_dir.temporary()];
            let sandbox = self.build_sandbox(&spec.cwd, &own, mounts)?;
            self.check_sandbox(sandbox.clone()).await?;
            let program = self.path_inside(&mounts.program);
            session_dir.launch(&program, &spec.cwd).sandbox(sandbox)
        } else {
            session_dir.launch(&mounts.program, &spec.cwd)
        };
        if let Some(lock) = &spec.lock {
            launch = launch.inherit(lock.clone());
        }
        Ok(launch)
    }

    /// Returns the reason why the program of `spec` did not start: that its sandbox cannot be
    /// created (any more), or else `error`.
    ///
    /// A program whose sandbox fails looks like one that exits without a message.
    pub async fn explain(&self, spec: &SessionSpec, error: AgentError) -> AgentError {
        if !matches!(self.is_needed(spec), Ok(true)) {
            return error;
        }
        // The folders of the session may be removed already.
        match self.build_sandbox(&spec.cwd, &[], &SandboxMounts::default()) {
            Ok(sandbox) => {
                self.trial.forget();
                self.check_sandbox(sandbox).await.err().unwrap_or(error)
            }
            Err(_) => error,
        }
    }

    /// Checks `sandbox`, with a trial on another thread if this bubblewrap has not passed one.
    pub(super) async fn check_sandbox(&self, sandbox: OsSandbox) -> Result<(), AgentError> {
        let (trial, program) = (self.trial.clone(), self.bubblewrap()?.to_owned());
        if trial.has_passed(&program) {
            return trial.check(&program, &sandbox).map_err(sandbox_error);
        }
        let checked = tokio::task::spawn_blocking(move || trial.check(&program, &sandbox)).await;
        match checked {
            Ok(checked) => checked.map_err(sandbox_error),
            Err(error) => {
                let message = "the sandbox could not be tested";
                Err(AgentError::new(AgentErrorKind::Other, message).with_source(error))
            }
        }
    }

    /// Builds the sandbox of a program that works in `project` and has its `own` folders.
    fn build_sandbox(
        &self,
        project: &Path,
        own: &[&Path],
        mounts: &SandboxMounts,
    ) -> Result<OsSandbox, AgentError> {
        let mut sandbox = OsSandbox::new(self.bubblewrap()?).network(match self.network {
            SandboxNetwork::Shared => Network::Shared,
            SandboxNetwork::Off => Network::Off,
        });
        for name in ProjectPaths::STATE_FOLDERS {
            let state_folder = project.join(name);
            if state_folder.exists() {
                sandbox = sandbox.read_only(state_folder);
            }
        }
        let own = [project].into_iter().chain(own.iter().copied());
        let others = mounts.writable.iter().chain(&self.writable);
        let writable: Vec<_> = own.chain(others.map(PathBuf::as_path)).collect();
        // The agent controls programs in folders that it can write to anyway.
        let is_writable = |path: &PathBuf| writable.iter().any(|folder| is_in(path, folder));
        let executed = [&mounts.program].into_iter().chain(&mounts.readable);
        let executed = executed.filter(|path| !is_writable(path));
        let readable = executed.chain(&self.readable).chain(&mounts.read_only);
        let sandbox = readable.fold(sandbox, OsSandbox::read_only);
        let sandbox = writable.into_iter().fold(sandbox, OsSandbox::writable);
        let hidden = mounts.hidden.iter().chain(&self.hidden);
        Ok(hidden.fold(sandbox, OsSandbox::hidden))
    }

    /// Returns the path of `program` inside the sandbox. A symlink in a hidden folder is resolved,
    /// because it does not exist there.
    fn path_inside(&self, program: &Path) -> PathBuf {
        let hidden = self.hidden.iter().map(PathBuf::as_path);
        let mut hidden = EMPTY.map(Path::new).into_iter().chain(hidden);
        if hidden.any(|folder| program.starts_with(folder)) {
            resolve(program)
        } else {
            program.to_owned()
        }
    }
}

/// Returns whether `path` is in `folder`, after symlinks of both are resolved.
fn is_in(path: &Path, folder: &Path) -> bool {
    resolve(path).starts_with(resolve(folder))
}

fn resolve(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use autonoe_core::RunId;
    use autonoe_core::agent::{OuterSandbox, Sandbox, SessionField, Support};
    use autonoe_core::gate::{Gate, Grants};
    use autonoe_core::time::SessionKey;
    use autonoe_core::tool::Toolbox;

    use super::*;

    fn sandbox_config() -> SandboxConfig {
        SandboxConfig::new(Some("/usr/bin/bwrap".into()))
    }

    #[test]
    fn project_and_session_folders_are_writable_and_the_state_folder_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().join("project");
        for name in [".autonoe", ".harness"] {
            fs::create_dir_all(project.join(name)).expect("it can be made");
        }
        let mut sandbox_config = sandbox_config();
        sandbox_config.network = SandboxNetwork::Off;
        sandbox_config.writable = vec!["/cache".into()];
        sandbox_config.readable = vec!["/tmp/data".into()];
        sandbox_config.hidden = vec!["/secret".into()];
        let mounts = SandboxMounts {
            program: "/tmp/program".into(),
            readable: vec!["/tmp/package".into(), project.join("tools/script")],
            writable: vec!["/kept".into()],
            read_only: vec!["/tmp/session/home".into()],
            hidden: vec![project.join("settings")],
        };

        let own = ["/tmp/session", "/tmp/session-files"].map(Path::new);
        let built = sandbox_config.build_sandbox(&project, &own, &mounts);

        let expected = OsSandbox::new("/usr/bin/bwrap")
            .network(Network::Off)
            .read_only(project.join(".autonoe"))
            .read_only(project.join(".harness"))
            .read_only("/tmp/program")
            .read_only("/tmp/package")
            .read_only("/tmp/data")
            .read_only("/tmp/session/home")
            .writable(&project)
            .writable("/tmp/session")
            .writable("/tmp/session-files")
            .writable("/kept")
            .writable("/cache")
            .hidden(project.join("settings"))
            .hidden("/secret");
        assert_eq!(built.expect("there is one"), expected);
    }

    #[test]
    fn a_program_is_started_by_its_own_name_unless_a_link_to_it_is_hidden() {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let folder = folder.path().canonicalize().expect("it is there");
        let (program, link) = (folder.join("program-1.2"), folder.join("program"));
        fs::write(&program, "").expect("writable");
        symlink(&program, &link).expect("writable");

        assert_eq!(sandbox_config().path_inside(&link), link);
        let mut sandbox_config = sandbox_config();
        sandbox_config.hidden.push(folder);
        assert_eq!(sandbox_config.path_inside(&link), program);
    }

    fn session(sandbox: Sandbox, outer: Option<OuterSandbox>) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/p"), Grants::none());
        let mut spec = SessionSpec::new(key, "/p", gate, Toolbox::new([]));
        spec.sandbox = sandbox;
        spec.outer_sandbox = outer;
        spec
    }

    #[tokio::test]
    async fn a_session_that_requires_a_sandbox_is_not_launched_without_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let without = Capabilities::new("program").with_outer_sandbox(Support::Yes);
        let with_own = without.clone().with_sandbox(Support::Yes);
        let container = OuterSandbox {
            name: "a container".to_owned(),
        };
        let refused = AgentErrorKind::Unclaimed(SessionField::Sandbox);
        for (spec, claimed, expected) in [
            (session(Sandbox::Required, None), &without, Err(refused)),
            (session(Sandbox::Required, None), &with_own, Ok(())),
            (
                session(Sandbox::Required, Some(container)),
                &without,
                Ok(()),
            ),
            (session(Sandbox::Off, None), &without, Ok(())),
        ] {
            let session_dir =
                SessionDirectory::create(folder.path(), "x-", |_| Ok(())).expect("a session_dir");

            let launched = sandbox_config()
                .launch(&spec, claimed, session_dir, &SandboxMounts::default())
                .await;

            let launched = launched.map(drop).map_err(|error| error.kind());
            assert_eq!(launched, expected, "{spec:?} {claimed:?}");
        }
    }

    #[tokio::test]
    async fn a_sandbox_that_cannot_be_created_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let spec = session(Sandbox::Off, Some(OuterSandbox::bubblewrap()));
        let claimed = Capabilities::new("program").with_outer_sandbox(Support::Yes);
        let session_dir =
            SessionDirectory::create(folder.path(), "x-", |_| Ok(())).expect("a session_dir");
        let sandbox_config = SandboxConfig::new(Some("/nowhere/bwrap".into()));

        let launched = sandbox_config
            .launch(&spec, &claimed, session_dir, &SandboxMounts::default())
            .await;

        let error = launched.expect_err("there is none");
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable);
        assert!(error.remedy().is_some(), "{error}");
    }
}
