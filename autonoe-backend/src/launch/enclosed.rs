//! A program and the walls around it.

use std::path::{Path, PathBuf};

use autonoe_core::{AgentError, AgentErrorKind, Capabilities, ProjectPaths, SessionSpec};
use autonoe_process::{Launch, Network, OsSandbox};

use super::walls::impossible;
use super::{SandboxNetwork, SessionPlace, Walls};

/// What is empty in every sandbox.
const EMPTY: [&str; 2] = ["/tmp", "/run"];

/// What a program is, and what it needs inside its walls beside the project and its own folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// The program. It can be read although it is in `/tmp` or hidden.
    pub program: PathBuf,
    /// What else it consists of. That can be read, too.
    pub readable: Vec<PathBuf>,
    /// What it writes to beside the folder of the session. It must be there.
    pub writable: Vec<PathBuf>,
    /// What cannot be written although it is in the folder of the session: entries of that. It must
    /// be there.
    pub fixed: Vec<PathBuf>,
    /// What it does not get to see, if it is there.
    pub hidden: Vec<PathBuf>,
}

impl Walls {
    /// Makes the launch of a program for `spec`: in the directory of the session, with the lock of
    /// the run, and inside of the sandbox if it [is needed](Self::are_needed).
    ///
    /// `claimed` are the capabilities of the backend. A session that sets a field which they do not
    /// claim is refused, even if the backend did not call [`SessionSpec::refuse_unclaimed`]: a
    /// session that requires a sandbox never starts without one.
    ///
    /// The sandbox is tried first: one that fails later would look like a program that does.
    ///
    /// # Errors
    ///
    /// As [`SessionSpec::refuse_unclaimed`] and [`are_needed`](Self::are_needed), or the sandbox
    /// cannot be made.
    pub async fn launch(
        &self,
        spec: &SessionSpec,
        claimed: &Capabilities,
        place: SessionPlace,
        inside: &Inside,
    ) -> Result<Launch, AgentError> {
        spec.refuse_unclaimed(claimed)?;
        let mut launch = match self.are_needed(spec)? {
            false => place.launch(&inside.program, &spec.cwd),
            true => {
                let own = [place.path(), place.temporary()];
                let sandbox = tried(self.around(&spec.cwd, own, inside)?).await?;
                let program = self.seen(&inside.program);
                place.launch(&program, &spec.cwd).inside(sandbox)
            }
        };
        if let Some(lock) = &spec.lock {
            launch = launch.inherit(lock.clone());
        }
        Ok(launch)
    }

    /// Makes the sandbox of a program that works in `project` and has its `own` folders.
    fn around(
        &self,
        project: &Path,
        own: [&Path; 2],
        inside: &Inside,
    ) -> Result<OsSandbox, AgentError> {
        let mut sandbox = OsSandbox::new(self.bubblewrap()?).network(match self.network {
            SandboxNetwork::Shared => Network::Shared,
            SandboxNetwork::Off => Network::Off,
        });
        for name in ProjectPaths::STATE_FOLDERS {
            let ours = project.join(name);
            if ours.exists() {
                sandbox = sandbox.read_only(ours);
            }
        }
        let own = [project].into_iter().chain(own);
        let others = inside.writable.iter().chain(&self.writable);
        let writable: Vec<_> = own.chain(others.map(PathBuf::as_path)).collect();
        // What is executed from a folder that the agent writes to is the agent's anyway.
        let is_writable = |path: &PathBuf| writable.iter().any(|folder| is_in(path, folder));
        let executed = [&inside.program].into_iter().chain(&inside.readable);
        let executed = executed.filter(|path| !is_writable(path));
        let readable = executed.chain(&self.readable).chain(&inside.fixed);
        let sandbox = readable.fold(sandbox, OsSandbox::read_only);
        let sandbox = writable.into_iter().fold(sandbox, OsSandbox::writable);
        let hidden = inside.hidden.iter().chain(&self.hidden);
        Ok(hidden.fold(sandbox, OsSandbox::hidden))
    }

    /// Returns where `program` is found inside: a link in a hidden place is not.
    fn seen(&self, program: &Path) -> PathBuf {
        let hidden = self.hidden.iter().map(PathBuf::as_path);
        let mut hidden = EMPTY.map(Path::new).into_iter().chain(hidden);
        match hidden.any(|folder| program.starts_with(folder)) {
            true => real(program),
            false => program.to_owned(),
        }
    }
}

/// Makes `sandbox` once, with nothing of use in it.
async fn tried(sandbox: OsSandbox) -> Result<OsSandbox, AgentError> {
    let tried = tokio::task::spawn_blocking(move || sandbox.check().map(|()| sandbox)).await;
    match tried {
        Ok(tried) => tried.map_err(impossible),
        Err(error) => {
            let message = "the sandbox could not be tried";
            Err(AgentError::new(AgentErrorKind::Other, message).because(error))
        }
    }
}

/// Tells whether `path` is in `folder`, as the system sees both.
fn is_in(path: &Path, folder: &Path) -> bool {
    real(path).starts_with(real(folder))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use autonoe_core::{
        Gate, Grants, OuterSandbox, RunId, Sandbox, SessionField, SessionKey, Support, Toolbox,
    };

    use super::*;

    fn walls() -> Walls {
        Walls::new(Some("/usr/bin/bwrap".into()))
    }

    #[test]
    fn project_and_own_folders_are_writable_and_ours_in_the_project_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().join("project");
        for name in [".autonoe", ".harness"] {
            fs::create_dir_all(project.join(name)).expect("it can be made");
        }
        let mut walls = walls();
        walls.network = SandboxNetwork::Off;
        walls.writable = vec!["/cache".into()];
        walls.readable = vec!["/tmp/data".into()];
        walls.hidden = vec!["/secret".into()];
        let inside = Inside {
            program: "/tmp/program".into(),
            readable: vec!["/tmp/package".into(), project.join("tools/script")],
            writable: vec!["/kept".into()],
            fixed: vec!["/tmp/session/home".into()],
            hidden: vec![project.join("settings")],
        };

        let own = ["/tmp/session", "/tmp/session-files"].map(Path::new);
        let made = walls.around(&project, own, &inside);

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
        assert_eq!(made.expect("there is one"), expected);
    }

    #[test]
    fn a_program_is_started_by_its_own_name_unless_a_link_to_it_is_hidden() {
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let folder = folder.path().canonicalize().expect("it is there");
        let (program, link) = (folder.join("program-1.2"), folder.join("program"));
        fs::write(&program, "").expect("writable");
        symlink(&program, &link).expect("writable");

        assert_eq!(walls().seen(&link), link);
        let mut walls = walls();
        walls.hidden.push(folder);
        assert_eq!(walls.seen(&link), program);
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
            let place = SessionPlace::furnish(folder.path(), "x-", |_| Ok(())).expect("a place");

            let made = walls()
                .launch(&spec, claimed, place, &Inside::default())
                .await;

            let made = made.map(drop).map_err(|error| error.kind());
            assert_eq!(made, expected, "{spec:?} {claimed:?}");
        }
    }

    #[tokio::test]
    async fn a_sandbox_that_cannot_be_made_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let spec = session(Sandbox::Off, Some(OuterSandbox::bubblewrap()));
        let claimed = Capabilities::new("program").with_outer_sandbox(Support::Yes);
        let place = SessionPlace::furnish(folder.path(), "x-", |_| Ok(())).expect("a place");
        let walls = Walls::new(Some("/nowhere/bwrap".into()));

        let made = walls
            .launch(&spec, &claimed, place, &Inside::default())
            .await;

        let error = made.expect_err("there is none");
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable);
        assert!(error.remedy().is_some(), "{error}");
    }
}
