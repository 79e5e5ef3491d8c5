//! [`Remotes`]: git repositories of projects that move between hosts.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use autonoe_core::RunId;
use autonoe_core::engine::ProjectName;
use autonoe_core::event::Failure;
use autonoe_harness::git_sync::{SyncError, SyncRemote, SyncedProject};
use autonoe_process::ProcessRunner;

/// The bare repository in the folder of a run that moves between hosts.
const COURIER: &str = "courier.git";

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
        checked.map_err(|why| Failure::permanent("git_sync", why))
    }

    /// Returns the project of a run, below the folder of all projects.
    pub(crate) fn synced_project(
        &self,
        project: &ProjectName,
        run: &RunId,
        root: &Path,
    ) -> Result<SyncedProject, Failure> {
        let failed = |error: SyncError| {
            let retry = error.retry();
            Failure::from_error("git_sync", &error, retry)
        };
        let remote = SyncRemote::new(self.address(project.as_str())).map_err(failed)?;
        let home = self.home(project, run, root);
        self.check(project, run, root)?;
        SyncedProject::open(&home, remote, &self.base, run, self.commands.clone()).map_err(failed)
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
        if place.join(COURIER).exists() {
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
        fs::create_dir_all(run.join(COURIER)).expect("a folder");
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
    fn an_address_is_made_of_its_beginning_and_the_name() {
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
    fn an_address_that_is_a_program_is_refused() {
        let remotes = Remotes::below("ext::sh -c", "main", ProcessRunner::unconfined("/"));

        assert!(remotes.is_err());
    }
}
