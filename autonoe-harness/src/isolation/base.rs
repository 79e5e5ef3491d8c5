//! Where worktrees begin.

use super::git::text;
use super::{IsolationError, Worktrees};

impl Worktrees {
    /// Returns the branch that the repository is on.
    ///
    /// # Errors
    ///
    /// It is on none.
    pub async fn current_branch(&self) -> Result<String, IsolationError> {
        let asked = ["symbolic-ref", "--quiet", "--short", "HEAD"];
        let said = self.git.attempt(&self.repo, &asked).await?;
        match said.is_success() {
            true => Ok(text(&said.stdout).trim().to_owned()),
            false => Err(IsolationError::Detached {
                folder: self.repo.clone(),
            }),
        }
    }

    /// Tells whether worktrees can begin at `base`, or at the [branch](Self::current_branch) that
    /// the repository is on.
    ///
    /// # Errors
    ///
    /// The repository is on no branch, or there is no commit on it. The project is ignored by git:
    /// nothing that is done there would be merged.
    pub async fn can_begin_at(&self, base: Option<&str>) -> Result<(), IsolationError> {
        let branch = match base {
            Some(base) => base.to_owned(),
            None => self.current_branch().await?,
        };
        let commit = format!("refs/heads/{branch}^{{commit}}");
        let asked = ["rev-parse", "--verify", "--quiet", &commit];
        if !self.git.attempt(&self.repo, &asked).await?.is_success() {
            return Err(IsolationError::NoBranch { branch });
        }
        if self.inside.as_os_str().is_empty() {
            return Ok(());
        }
        let inside = self.inside.to_string_lossy();
        let asked = ["check-ignore", "--quiet", "--", &inside];
        match self.git.attempt(&self.repo, &asked).await?.is_success() {
            true => Err(IsolationError::Ignored {
                folder: self.repo.join(&self.inside),
            }),
            false => Ok(()),
        }
    }
}
