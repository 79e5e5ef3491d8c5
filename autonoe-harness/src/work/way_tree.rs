//! The worktrees of other ways.

use sha2::{Digest, Sha256};

use crate::{ExplorationBranch, IsolationError, Task, TaskId, Worktree, Worktrees};

/// How often another name is tried for a branch that is there already.
const NAMES: u32 = 100;

/// How much of a task's id becomes a part of a name.
const LONGEST: usize = 40;

/// Tells whether nothing is left of a way.
pub(super) async fn is_gone(trees: &Worktrees, branch: &str) -> bool {
    let name = branch.rsplit('/').next().unwrap_or_default();
    let left = trees.left().await;
    left.is_ok_and(|left| left.iter().all(|it| it != name))
}

/// Takes up the way that was left, or makes its worktree; returns how many iterations it had.
pub(super) async fn begin(
    trees: &Worktrees,
    own: &Worktree,
    task: &Task,
    way: &ExplorationBranch,
    left: Option<(String, u32)>,
) -> Result<(Worktree, u32), IsolationError> {
    if let Some((branch, begun)) = left {
        let name = branch.rsplit('/').next().unwrap_or_default();
        if let Some(tree) = trees.take_up(name).await? {
            tree.make_folder()?;
            return Ok((tree, begun));
        }
    }
    Ok((make(trees, own, task, &way.name).await?, 0))
}

async fn make(
    trees: &Worktrees,
    own: &Worktree,
    task: &Task,
    branch: &str,
) -> Result<Worktree, IsolationError> {
    let of = own.branch().rsplit('/').next().unwrap_or_default();
    let name = format!("{of}.{}.{}", plain(&task.id), branch);
    let mut taken = trees.create(&name, own.branch()).await;
    for number in 2..NAMES {
        if !matches!(taken, Err(IsolationError::Exists(_))) {
            break;
        }
        // Of an earlier run, perhaps with work that nobody has looked at.
        taken = trees
            .create(&format!("{name}-{number}"), own.branch())
            .await;
    }
    taken
}

/// Returns a task's id as a part of a name, another one for each id.
fn plain(id: &TaskId) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() {
        true => c,
        false => '-',
    };
    let text: String = id.as_str().chars().take(LONGEST).map(plain).collect();
    if text == id.as_str() {
        return text;
    }
    // What was replaced or cut off may be all that tells two of them apart.
    let digest = Sha256::digest(id.as_str());
    let digest = digest.iter().take(4).map(|byte| format!("{byte:02x}"));
    format!("{text}-{}", digest.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_tasks_have_one_name() {
        let long = "a".repeat(60);
        let ids = ["T-1", "T/1", "T 1", "T.1", &long, &format!("{long}b")];

        let names = ids.map(|id| plain(&id.parse().expect("an id")));

        assert_eq!(names[0], "T-1");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), ids.len());
    }
}
