//! [`Remotes`]: git repositories of projects that move between hosts.

use std::path::{Component, Path, PathBuf};

use autonoe_core::engine::ProjectName;
use autonoe_core::event::Failure;
use autonoe_core::{Project, RunId};
use autonoe_git_sync::{IntegrationBranch, SYNC_REPO, SyncError, SyncRemote, SyncedProject};
use autonoe_harness::executor::task_prompt;
use autonoe_process::ProcessRunner;

use crate::fleet_work::{FleetWork, integration_branch, project_name};

/// Finds the repository and the folder of a project by its name.
#[derive(Clone, Debug)]
pub(crate) struct Remotes {
    /// The address above all repositories.
    root: String,
    /// The branch that projects start from.
    pub(crate) base: String,
    /// The canonical folder of the projects on this host.
    projects: PathBuf,
    commands: ProcessRunner,
}

impl Remotes {
    /// Finds repositories below an address. The address is validated with a sample name.
    pub(crate) fn below(
        root: &str,
        base: &str,
        projects: &Path,
        commands: ProcessRunner,
    ) -> Result<Self, SyncError> {
        let remotes = Self {
            root: root.trim_end_matches('/').to_owned(),
            base: base.to_owned(),
            projects: projects.to_owned(),
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

    /// Returns the folder of a run on a project. A folder that agents of other runs can change is
    /// rejected.
    fn home(&self, project: &ProjectName, run: &RunId) -> Result<PathBuf, Failure> {
        let home = project.path_below(&self.projects).join(run.as_str());
        check_place(&home, &self.projects)
            .map_err(|reason| Failure::permanent("git_sync", reason))?;
        Ok(home)
    }

    /// Returns the project of a run.
    pub(crate) fn synced_project(
        &self,
        project: &ProjectName,
        run: &RunId,
    ) -> Result<SyncedProject, Failure> {
        let remote = SyncRemote::new(self.address(project.as_str()))?;
        let home = self.home(project, run)?;
        let commands = self.commands.clone();
        Ok(SyncedProject::open(
            &home, remote, &self.base, run, commands,
        )?)
    }

    /// Returns the project of a run that was on this host.
    pub(crate) fn find_existing(
        &self,
        project: &ProjectName,
        run: &RunId,
    ) -> Result<Project, Failure> {
        if !self.home(project, run)?.is_dir() {
            let reason = format!("the run {run} was not on this host");
            return Err(Failure::retryable("not_here", reason));
        }
        Ok(self.synced_project(project, run)?.project().clone())
    }

    /// Returns the project of a task of a fleet. Its branch starts at the integration branch.
    pub(crate) fn task_project(
        &self,
        work: &FleetWork,
        run: &RunId,
    ) -> Result<SyncedProject, Failure> {
        let (remote, home) = self.fleet_member(work, run)?;
        let task = work.task.as_ref();
        let task =
            task.ok_or_else(|| Failure::permanent("unknown_work", "the run names no task"))?;
        let base = integration_branch(run);
        let project = SyncedProject::open(&home, remote, &base, run, self.commands.clone())?;
        Ok(project.for_task(format!("# Task {}\n\n{}", task.id, task_prompt(task, None))))
    }

    /// Returns the integration branch of a fleet, for a run that creates it or merges a task.
    pub(crate) fn integration(
        &self,
        work: &FleetWork,
        run: &RunId,
    ) -> Result<IntegrationBranch, Failure> {
        let (remote, home) = self.fleet_member(work, run)?;
        let branch = integration_branch(run);
        let commands = self.commands.clone();
        Ok(IntegrationBranch::open(&home, remote, &branch, commands)?)
    }

    /// Returns the remote and the folder of a member of a fleet.
    fn fleet_member(
        &self,
        work: &FleetWork,
        run: &RunId,
    ) -> Result<(SyncRemote, PathBuf), Failure> {
        let address = self.accept(&work.repository)?;
        let project = project_name(&address)
            .map_err(|error| Failure::permanent("foreign_repository", error.to_string()))?;
        Ok((SyncRemote::new(address)?, self.home(&project, run)?))
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

    fn remotes(root: &str) -> Result<Remotes, SyncError> {
        let commands = ProcessRunner::unconfined("/");
        Remotes::below(root, "main", Path::new("/projects"), commands)
    }

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
            let remotes = remotes(root);
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
            let remotes = remotes(root);
            let accepted = remotes.expect("an address").accept(repository);

            assert_eq!(accepted.as_deref().ok(), address, "{root} {repository}");
        }
    }

    #[test]
    fn an_address_that_is_a_program_is_refused() {
        let remotes = remotes("ext::sh -c");

        assert!(remotes.is_err());
    }
}
