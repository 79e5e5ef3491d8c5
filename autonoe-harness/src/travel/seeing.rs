//! What is on the remote.

use std::time::Duration;

use autonoe_process::CommandOutput;

use super::courier::Courier;
use super::remote::NAME;
use super::steps::{BASE, TIP};
use super::{TravelError, TravellingProject};
use crate::isolation::{Git, text, words};

/// How long a look at the names of the remote may take.
const LOOK: Duration = Duration::from_secs(60);

/// What was seen on the remote. Its commits are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The branch of the run is there, and ends with this commit.
    Branch(String),
    /// It is not there; the base ends with this commit.
    OnlyBase(String),
}

impl TravellingProject {
    /// Returns the commit at the end of the run's branch, without a change to anything.
    pub(super) async fn glance(&self) -> Result<Option<String>, TravelError> {
        let branch = format!("refs/heads/{}", self.branch);
        Ok(self.names(&self.git, &[&branch]).await?.remove(0))
    }

    /// Returns the commits of names on the remote.
    async fn names(&self, git: &Git, names: &[&str]) -> Result<Vec<Option<String>>, TravelError> {
        let mut asked = vec!["ls-remote", "--quiet", NAME];
        asked.extend(names);
        let git = self.reaching(git).within(LOOK);
        let said = git.attempt(self.project.root(), &asked).await?;
        if !said.is_success() {
            return Err(self.away(&said));
        }
        let said = text(&said.stdout);
        let commit_of = |wanted: &&str| {
            let mut lines = said.lines().filter_map(|line| line.split_once('\t'));
            let (commit, _) = lines.find(|(_, name)| name == wanted)?;
            Some(commit.to_owned())
        };
        Ok(names.iter().map(commit_of).collect())
    }

    pub(super) fn reaching(&self, git: &Git) -> Git {
        git.clone()
            .with_settings(&self.remote.settings())
            .reaching(self.remote.protocol())
    }

    /// Says that the remote does not answer.
    pub(super) fn away(&self, said: &CommandOutput) -> TravelError {
        let said = format!("git {}: {}", said.end, words(said));
        TravelError::Away {
            remote: self.remote.to_string(),
            said: self.remote.without_secrets(&said),
        }
    }
}

/// Says to git that it gets names of a repository, and nothing that follows from them.
pub(super) fn fetch<'a>(repository: &'a str, names: &'a str) -> [&'a str; 8] {
    [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        repository,
        names,
    ]
}

impl Courier<'_> {
    /// Looks at the remote, and gets what is new there.
    pub(super) async fn see(&self) -> Result<Seen, TravelError> {
        let travels = self.travels;
        let branch = format!("refs/heads/{}", travels.branch);
        let base = format!("refs/heads/{}", travels.base);
        let found = travels.names(&self.git, &[&branch, &base]).await?;
        match &found[..] {
            [Some(commit), _] => {
                let commit = self.get(&branch, commit, TIP).await?;
                Ok(Seen::Branch(commit))
            }
            [None, Some(commit)] => {
                let commit = self.get(&base, commit, BASE).await?;
                Ok(Seen::OnlyBase(commit))
            }
            _ => Err(TravelError::NoBase {
                remote: travels.remote.to_string(),
                base: travels.base.clone(),
            }),
        }
    }

    /// Gets the commit of a name on the remote, and remembers it as `here`.
    async fn get(&self, name: &str, commit: &str, here: &str) -> Result<String, TravelError> {
        let known = self.commit_of(here).await?;
        if known.as_deref() == Some(commit) {
            return Ok(commit.to_owned());
        }
        let names = format!("+{name}:{here}");
        let fetch = fetch(NAME, &names);
        let git = self.travels.reaching(&self.git);
        let said = git.attempt(self.folder(), &fetch).await?;
        if !said.is_success() {
            return Err(self.travels.away(&said));
        }
        // It may have moved on meanwhile.
        let got = self.commit_of(here).await?;
        got.ok_or_else(|| self.travels.away(&said))
    }
}
