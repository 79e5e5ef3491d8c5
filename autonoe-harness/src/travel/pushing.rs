//! Pushes that overwrite nothing.

use autonoe_process::CommandOutput;

use super::TravelError;
use super::courier::Courier;
use super::remote::NAME;
use super::seeing::Seen;
use super::steps::{SENT, TIP};
use crate::isolation::{text, words};

/// What came of a push that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    Done,
    /// Somebody else was there first: this is there now.
    Moved(Seen),
}

impl Courier<'_> {
    /// Has the branch of the run end with a commit, if it ends where it was seen: `None` if there was
    /// none. The project stands on it then.
    ///
    /// The commit must come after `seen`, so that nothing is taken from the branch.
    pub(super) async fn push(
        &self,
        commit: &str,
        seen: Option<&str>,
    ) -> Result<Pushed, TravelError> {
        // Before it is pushed, so that who comes after a kill knows whose it is.
        self.set(SENT, commit).await?;
        let branch = format!("refs/heads/{}", self.travels.branch);
        let lease = format!("--force-with-lease={branch}:{}", seen.unwrap_or_default());
        let push = [
            "push",
            "--porcelain",
            "--no-progress",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            &lease,
            NAME,
            &format!("{commit}:{branch}"),
        ];
        let git = self.travels.reaching(&self.git);
        let said = git.attempt(self.folder(), &push).await?;
        if said.is_success() {
            return self.pushed(commit).await;
        }
        // An answer can be lost on its way, so the branch is asked and not the answer.
        let found = match self.see().await {
            Ok(found) => found,
            Err(TravelError::Away { .. }) => return Err(self.travels.away(&said)),
            Err(error) => return Err(error),
        };
        match &found {
            Seen::Branch(tip) if tip == commit => self.pushed(commit).await,
            Seen::Branch(tip) if Some(tip.as_str()) == seen => Err(self.refused(&said)),
            Seen::OnlyBase(_) if seen.is_none() => Err(self.refused(&said)),
            _ => Ok(Pushed::Moved(found)),
        }
    }

    async fn pushed(&self, commit: &str) -> Result<Pushed, TravelError> {
        self.set(TIP, commit).await?;
        self.stand_on(commit).await?;
        Ok(Pushed::Done)
    }

    /// Says why a push did nothing although nobody else was there.
    fn refused(&self, said: &CommandOutput) -> TravelError {
        let travels = self.travels;
        match is_final(&text(&said.stdout)) {
            false => travels.away(said),
            true => TravelError::Refused {
                remote: travels.remote.to_string(),
                branch: travels.branch.clone(),
                said: travels.remote.without_secrets(&words(said)),
            },
        }
    }
}

/// Tells whether the remote has said no, and would say so again.
fn is_final(porcelain: &str) -> bool {
    let mut lines = porcelain.lines().filter(|line| line.starts_with("!\t"));
    let Some(line) = lines.find(|line| line.contains("[remote rejected]")) else {
        return false;
    };
    // Somebody else was at the branch in that moment, or the remote could not write.
    let passing = ["cannot lock ref", "failed to update ref", "unpacker error"];
    !passing.iter().any(|reason| line.contains(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_that_says_no_is_told_from_one_that_breaks_off() {
        let line = |reason: &str| format!("To /srv/x\n!\ta:refs/heads/b\t{reason}\nDone\n");
        for (porcelain, expected) in [
            (String::new(), false),
            (line("[rejected] (stale info)"), false),
            (line("[remote rejected] (pre-receive hook declined)"), true),
            (line("[remote rejected] (failed to update ref)"), false),
            (
                line("[remote rejected] (cannot lock ref 'refs/heads/b')"),
                false,
            ),
            (line("[remote rejected] (unpacker error)"), false),
        ] {
            assert_eq!(is_final(&porcelain), expected, "{porcelain}");
        }
    }
}
