//! Base branch of worktrees.

use super::git::text;
use super::{IsolationError, Worktrees};

impl Worktrees {
    /// Returns the branch that is checked out in the repository.
    ///
    /// # Errors
    ///
    /// No branch is checked out.
    pub async fn current_branch(&self) -> Result<String, IsolationError> {
        let command = ["symbolic-ref", "--quiet", "--short", "HEAD"];
        let output = self.git.try_run(&self.repo, &command).await?;
        if output.is_success() {
            Ok(text(&output.stdout).trim().to_owned())
        } else {
            Err(IsolationError::Detached {
                folder: self.repo.clone(),
            })
        }
    }

    /// Checks whether worktrees can start at `base`, or at the [current
    /// branch](Self::current_branch) of the repository.
    ///
    /// # Errors
    ///
    /// No branch is checked out, or it has no commit. Or git ignores the project: no work there
    /// would ever be merged.
    pub async fn check_base(&self, base: Option<&str>) -> Result<(), IsolationError> {
        let branch = match base {
            Some(base) => base.to_owned(),
            None => self.current_branch().await?,
        };
        let commit = format!("refs/heads/{branch}^{{commit}}");
        let command = ["rev-parse", "--verify", "--quiet", &commit];
        if !self.git.try_run(&self.repo, &command).await?.is_success() {
            return Err(IsolationError::NoBranch { branch });
        }
        if self.project_subfolder.as_os_str().is_empty() {
            return Ok(());
        }
        let inside = self.project_subfolder.to_string_lossy();
        let command = ["check-ignore", "--quiet", "--", &inside];
        if self.git.try_run(&self.repo, &command).await?.is_success() {
            Err(IsolationError::Ignored {
                folder: self.repo.join(&self.project_subfolder),
            })
        } else {
            Ok(())
        }
    }
}
