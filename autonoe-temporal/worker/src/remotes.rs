//! Where the repositories of projects are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::{Failure, ProjectName, RunId};
use autonoe_harness::{TravelError, TravelRemote, TravellingProject};
use autonoe_process::Commands;

/// Finds the repository of a project by its name.
#[derive(Clone, Debug)]
pub(crate) struct Remotes {
    root: Arc<str>,
    base: Arc<str>,
    commands: Commands,
}

impl Remotes {
    /// Finds them below an address, which is tried with a name.
    pub(crate) fn below(root: &str, base: &str, commands: Commands) -> Result<Self, TravelError> {
        let remotes = Self {
            root: root.trim_end_matches('/').into(),
            base: base.into(),
            commands,
        };
        TravelRemote::new(remotes.address("project"))?;
        Ok(remotes)
    }

    fn address(&self, project: &str) -> String {
        // `user@host:` is followed by a path at once.
        let between = match self.root.ends_with(':') {
            true => "",
            false => "/",
        };
        format!("{}{between}{project}.git", self.root)
    }

    /// Returns the folder of a run on a project. Whether it can be one is looked at when it is used.
    pub(crate) fn home(&self, project: &ProjectName, run: &RunId, root: &Path) -> PathBuf {
        project.below(root).join(run.as_str())
    }

    /// Returns the place of a run on a project, below the folder of all projects.
    pub(crate) fn travelling(
        &self,
        project: &ProjectName,
        run: &RunId,
        root: &Path,
    ) -> Result<TravellingProject, Failure> {
        let failed = |error: TravelError| {
            let retry = error.retry();
            Failure::from_error("travel", &error, retry)
        };
        let remote = TravelRemote::new(self.address(project.as_str())).map_err(failed)?;
        let home = self.home(project, run, root);
        TravellingProject::open(&home, remote, &self.base, run, self.commands.clone())
            .map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_made_of_its_beginning_and_the_name() {
        let address = |root: &str| {
            let remotes = Remotes::below(root, "main", Commands::unconfined("/"));
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
        let remotes = Remotes::below("ext::sh -c", "main", Commands::unconfined("/"));

        assert!(remotes.is_err());
    }
}
