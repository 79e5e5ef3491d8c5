//! Pushes that never overwrite commits.

use autonoe_process::CommandOutput;

use super::SyncError;
use super::remote::NAME;
use super::remote_state::RemoteState;
use super::sync_refs::{PUSHING, TIP};
use super::sync_repo::SyncRepo;
use crate::isolation::{output_text, text};

/// Outcome of a push that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PushOutcome {
    Done,
    /// Another host pushed first: the current state of the branch.
    Moved(RemoteState),
}

impl SyncRepo<'_> {
    /// Moves the branch of the run to a commit, if it is still at `seen`: `None` if there was no
    /// branch. The project is at the commit then.
    ///
    /// The commit must be a descendant of `seen`, so that nothing is removed from the branch.
    pub(super) async fn push(
        &self,
        commit: &str,
        seen: Option<&str>,
    ) -> Result<PushOutcome, SyncError> {
        // Recorded before the push, so that a later process knows its owner after a kill.
        self.set_ref(PUSHING, commit).await?;
        let branch = format!("refs/heads/{}", self.synced_project.branch);
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
        let git = self.synced_project.with_remote(&self.git);
        let output = git.try_run(self.folder(), &push).await?;
        if output.is_success() {
            return self.pushed(commit).await;
        }
        // A response can get lost, so the branch is read instead.
        let found = match self.fetch_state().await {
            Ok(found) => found,
            Err(SyncError::Unreachable { .. }) => {
                return Err(self.synced_project.unreachable_error(&output));
            }
            Err(error) => return Err(error),
        };
        match &found {
            RemoteState::Branch(tip) if tip == commit => self.pushed(commit).await,
            RemoteState::Branch(tip) if Some(tip.as_str()) == seen => Err(self.refused(&output)),
            RemoteState::OnlyBase(_) if seen.is_none() => Err(self.refused(&output)),
            _ => Ok(PushOutcome::Moved(found)),
        }
    }

    async fn pushed(&self, commit: &str) -> Result<PushOutcome, SyncError> {
        self.set_ref(TIP, commit).await?;
        self.record_position(commit).await?;
        Ok(PushOutcome::Done)
    }

    /// Returns the error of a push that had no effect although no other host pushed.
    fn refused(&self, output: &CommandOutput) -> SyncError {
        let synced_project = self.synced_project;
        if is_final(&text(&output.stdout)) {
            SyncError::Refused {
                remote: synced_project.remote.to_string(),
                branch: synced_project.branch.clone(),
                output: synced_project.remote.redact(&output_text(output)),
            }
        } else {
            synced_project.unreachable_error(output)
        }
    }
}

/// Returns whether the remote has refused the push for good.
fn is_final(porcelain: &str) -> bool {
    let mut lines = porcelain.lines().filter(|line| line.starts_with("!\t"));
    let Some(line) = lines.find(|line| line.contains("[remote rejected]")) else {
        return false;
    };
    // Another host was pushing at that moment, or the remote could not write.
    let passing = ["cannot lock ref", "failed to update ref", "unpacker error"];
    !passing.iter().any(|reason| line.contains(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_distinguished_from_a_broken_connection() {
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
