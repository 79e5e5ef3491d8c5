//! [`Remotes`]: git repositories of projects that move between hosts.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use autonoe_core::RunId;
use autonoe_core::engine::ProjectName;
use autonoe_core::event::Failure;
use autonoe_git_sync::{IntegrationBranch, SYNC_REPO, SyncError, SyncRemote, SyncedProject};
use autonoe_harness::executor::task_prompt;
use autonoe_process::ProcessRunner;

use crate::fleet_work::{FleetWork, integration_branch, project_name};

/// Finds the repository of a project by its name.
#[derive(Clone, Debug)]
pub(crate) struct Remotes {
    root: Arc<str>,
    base: Arc<str>,
    commands: ProcessRunner,
}

impl Remotes {
    /// Finds repositories below an address. The address is validated with a sample name.
    pub(crate) fn below(
        root: &str,
        base: &str,
        commands: ProcessRunner,
    ) -> Result<Self, SyncError> {
        let remotes = Self {
            root: root.trim_end_matches('/').into(),
            base: base.into(),
            commands,
        };
        SyncRemote::new(remotes.address("project"))?;
        Ok(remotes)
    }

    fn address(&self, project: &str) -> String {
        // The path follows `user@host:` directly.
        let between = if self.root.ends_with(':') { "" } else { "/" };
        format!("{}{between}{project}.git", self.root)
    }

    /// Returns the folder of a run on a project. It is validated when it is used.
    pub(crate) fn home(&self, project: &ProjectName, run: &RunId, root: &Path) -> PathBuf {
        project.path_below(root).join(run.as_str())
    }

    /// Rejects a folder that agents of other runs can change.
    pub(crate) fn check(
        &self,
        project: &ProjectName,
        run: &RunId,
        root: &Path,
    ) -> Result<(), Failure> {
        let checked = check_place(&self.home(project, run, root), root);
        checked.map_err(|reason| Failure::permanent("git_sync", reason))
    }

    /// Returns the project of a run, below the folder of all projects.
    pub(crate) fn synced_project(
        &self,
        project: &ProjectName,
        run: &RunId,
        root: &Path,
    ) -> Result<SyncedProject, Failure> {
        let remote =
            SyncRemote::new(self.address(project.as_str())).map_err(|error| failed(&error))?;
        let home = self.home(project, run, root);
        self.check(project, run, root)?;
        SyncedProject::open(&home, remote, &self.base, run, self.commands.clone())
            .map_err(|error| failed(&error))
    }

    /// Returns the project of a task of a fleet. Its branch starts at the integration branch.
    pub(crate) fn task_project(
        &self,
        work: &FleetWork,
        run: &RunId,
        root: &Path,
    ) -> Result<SyncedProject, Failure> {
        let (remote, home) = self.fleet_member(work, run, root)?;
        let task = work.task.as_ref().ok_or_else(|| {
            Failure::permanent("unknown_work", "the run names no task".to_owned())
        })?;
        let base = integration_branch(run);
        let project = SyncedProject::open(&home, remote, &base, run, self.commands.clone());
        let specification = format!("# Task {}\n\n{}", task.id, task_prompt(task, None));
        Ok(project
            .map_err(|error| failed(&error))?
            .for_task(specification))
    }

    /// Returns the integration branch of a fleet, for a run that creates it or merges a task.
    pub(crate) fn integration(
        &self,
        work: &FleetWork,
        run: &RunId,
        root: &Path,
    ) -> Result<IntegrationBranch, Failure> {
        let (remote, home) = self.fleet_member(work, run, root)?;
        let branch = integration_branch(run);
        IntegrationBranch::open(&home, remote, &branch, self.commands.clone())
            .map_err(|error| failed(&error))
    }

    /// Creates an integration branch at the base, unless it exists.
    pub(crate) async fn create(&self, integration: &IntegrationBranch) -> Result<String, Failure> {
        integration
            .create(&self.base)
            .await
            .map_err(|error| failed(&error))
    }

    /// Returns the remote and the folder of a member of a fleet.
    fn fleet_member(
        &self,
        work: &FleetWork,
        run: &RunId,
        root: &Path,
    ) -> Result<(SyncRemote, PathBuf), Failure> {
        let address = self.accept(&work.repository)?;
        let project = project_name(&address)
            .map_err(|error| Failure::permanent("foreign_repository", error.to_string()))?;
        self.check(&project, run, root)?;
        let remote = SyncRemote::new(address).map_err(|error| failed(&error))?;
        Ok((remote, self.home(&project, run, root)))
    }

    /// Returns the address of a repository that a submitter names, if it is below the remote root
    /// of this worker. Otherwise a submitter could direct the worker, with its credentials, to any
    /// server.
    fn accept(&self, repository: &str) -> Result<String, Failure> {
        let prefix = self.address("");
        let prefix = prefix.strip_suffix(".git").unwrap_or(&prefix);
        let name = repository.strip_prefix(prefix);
        let name = name.map(|name| name.strip_suffix(".git").unwrap_or(name));
        match name.map(ProjectName::new) {
            Some(Ok(name)) => Ok(self.address(name.as_str())),
            _ => {
                let reason = "the repository is not below the remote root of this worker";
                Err(Failure::permanent("foreign_repository", reason))
            }
        }
    }
}

fn failed(error: &SyncError) -> Failure {
    let retry = error.retry();
    Failure::from_error("git_sync", error, retry)
}

/// Returns why the folder of a run cannot be used. Agents can change the folders of their runs, and
/// may have placed a symlink there.
fn check_place(home: &Path, root: &Path) -> Result<(), String> {
    let below = home.strip_prefix(root).unwrap_or(Path::new(".."));
    let mut place = root.to_owned();
    for part in below.components() {
        if !matches!(part, Component::Normal(_)) {
            return Err("the name of a run must be a valid folder name".to_owned());
        }
        if place.join(SYNC_REPO).exists() {
            return Err(format!(
                "{} is inside the folder of another run",
                below.display()
            ));
        }
        place.push(part);
        if place.is_symlink() {
            return Err(format!("{} contains a symlink", below.display()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_place_that_agents_can_change_is_none_for_another_run() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let run = root.join("shop/shop-1");
        fs::create_dir_all(run.join(SYNC_REPO)).expect("a folder");
        fs::create_dir_all(run.join("project")).expect("a folder");
        symlink("/", root.join("link")).expect("a link");

        assert_eq!(check_place(&run, root), Ok(()));
        assert_eq!(check_place(&root.join("shop/shop-2"), root), Ok(()));
        for wrong in [
            "shop/shop-1/project/x",
            "link/etc",
            "shop/../../x",
            "shop/..",
        ] {
            assert!(check_place(&root.join(wrong), root).is_err(), "{wrong}");
        }
    }

    #[test]
    fn address_is_the_root_followed_by_the_name() {
        let address = |root: &str| {
            let remotes = Remotes::below(root, "main", ProcessRunner::unconfined("/"));
            remotes.expect("an address").address("team/shop")
        };

        assert_eq!(
            address("https://git.example.org/"),
            "https://git.example.org/team/shop.git"
        );
        assert_eq!(
            address("git@git.example.org:"),
            "git@git.example.org:team/shop.git"
        );
        assert_eq!(address("/srv/git"), "/srv/git/team/shop.git");
    }

    #[test]
    fn only_repositories_below_the_remote_root_are_accepted() {
        for (root, repository, address) in [
            ("/srv/git", "/srv/git/shop.git", Some("/srv/git/shop.git")),
            (
                "/srv/git/",
                "/srv/git/team/shop",
                Some("/srv/git/team/shop.git"),
            ),
            (
                "git@h:team",
                "git@h:team/shop.git",
                Some("git@h:team/shop.git"),
            ),
            ("git@h:", "git@h:shop.git", Some("git@h:shop.git")),
            ("/srv/git", "/srv/git2/shop.git", None),
            ("/srv/git", "/srv/git/../etc/shop.git", None),
            ("/srv/git", "/srv/git/.git", None),
            ("/srv/git", "/srv/git", None),
            ("/srv/git", "/srv/git//shop.git", None),
            ("/srv/git", "https://elsewhere.example/shop.git", None),
            ("/srv/git", "ext::sh -c x", None),
            (
                "https://git.example.org",
                "https://git.example.org@evil.example/x",
                None,
            ),
        ] {
            let remotes = Remotes::below(root, "main", ProcessRunner::unconfined("/"));
            let accepted = remotes.expect("an address").accept(repository);

            assert_eq!(accepted.as_deref().ok(), address, "{root} {repository}");
        }
    }

    #[test]
    fn an_address_that_is_a_program_is_refused() {
        let remotes = Remotes::below("ext::sh -c", "main", ProcessRunner::unconfined("/"));

        assert!(remotes.is_err());
    }
}
