//! Explores several approaches to a task, each in a worktree of its own.

use autonoe_core::event::Failure;
use sha2::{Digest, Sha256};

use super::WorkEvent;
use super::decide::{NextStep, TaskFailure};
use super::messages::WaitOutcome;
use super::task_loop::{TaskEnd, Work};
use super::turn::{TurnContext, TurnError};
use crate::budget::VerificationBudget;
use crate::executor::{Task, TaskId};
use crate::isolation::{IsolationError, WorkLocation, Worktree, Worktrees};
use crate::pluralize::pluralize;
use crate::recovery::ExplorationBranch;

impl Work<'_> {
    /// Explores approaches one after the other until one passes its checks. Its work is merged into
    /// that of the member; the work of the others is kept on their branches. Approaches that an
    /// earlier process has explored are not repeated. [`TaskEnd::Failed`] if no approach succeeded.
    pub(super) async fn explore(
        &mut self,
        task: &Task,
        branches: &[ExplorationBranch],
        iterations: u32,
    ) -> Result<TaskEnd, Failure> {
        let before = self.state.task_state(&task.id).exploration;
        let (Some(own), Some(trees)) = (self.worktree.clone(), self.task_loop.worktrees.clone())
        else {
            let reason = "there is no worktree to branch from";
            return Ok(TaskEnd::Failed(reason.to_owned()));
        };
        let message = format!("Work on {} before other approaches are tried", task.id);
        if let Err(error) = own.commit_all(&self.task_loop.author, &message).await {
            return Ok(TaskEnd::Failed(error.to_string()));
        }
        let mut reasons = Vec::new();
        let mut left = before.open;
        if let Some((branch, _)) = &left
            && self.state.passed_on(branch).is_some()
            && is_removed(&trees, branch).await
        {
            // A worktree is only removed after it was merged.
            let explored = WorkEvent::Explored {
                task: task.id.clone(),
                branch: branch.clone(),
                merged: true,
                unmerged_work: None,
                outcome: "its work is merged".to_owned(),
            };
            self.record(&explored).await?;
            return Ok(TaskEnd::Done);
        }
        for branch in branches.iter().skip(before.ended) {
            let (tree, iterations_so_far) =
                match open_or_create(&trees, &own, task, branch, left.take()).await {
                    Ok(opened) => opened,
                    Err(error) => {
                        // Without isolation, the approach is not explored.
                        reasons.push(format!("{}: {error}", branch.name));
                        continue;
                    }
                };
            let mut task = task.clone();
            task.goal = branch.goal.clone();
            let folder = tree.folder().to_owned();
            let mut place = self
                .turn_context(folder, Some(tree.branch().to_owned()))
                .await;
            let end = match self.state.passed_on(tree.branch()) {
                Some(_) => TaskEnd::Done,
                None => {
                    self.try_exploration(&mut place, &task, iterations_so_far, iterations)
                        .await?
                }
            };
            let budget = VerificationBudget::new(self.account.free());
            let outcome = self
                .conclude_exploration(&tree, &place, &task, end, &budget)
                .await;
            self.charge_checks(&budget).await?;
            let (merged, unmerged_work, description) = match &outcome {
                Conclusion::Merged(left) => (true, left.clone(), "its work is merged".to_owned()),
                Conclusion::Unmerged(place, reason) => (false, place.clone(), reason.clone()),
                // The approach has not ended: the next process resumes it.
                Conclusion::Stopped(place) => {
                    self.unmerged_work.push(place.clone());
                    return Ok(TaskEnd::Stopped);
                }
            };
            let explored = WorkEvent::Explored {
                task: task.id.clone(),
                branch: tree.branch().to_owned(),
                merged,
                unmerged_work,
                outcome: description,
            };
            self.record(&explored).await?;
            match outcome {
                Conclusion::Merged(_) => return Ok(TaskEnd::Done),
                Conclusion::Stopped(_) => {}
                Conclusion::Unmerged(place, reason) => reasons.push(match place {
                    Some(place) => format!("{reason} (its work is on {place})"),
                    None => reason,
                }),
            }
        }
        Ok(TaskEnd::Failed(reasons.join("; ")))
    }

    async fn try_exploration(
        &mut self,
        place: &mut TurnContext,
        task: &Task,
        iterations_so_far: u32,
        iterations: u32,
    ) -> Result<TaskEnd, Failure> {
        let cut_off = || "the process ended during the turn".to_owned();
        let mut problem = (iterations_so_far > 0).then(cut_off);
        let (mut iteration, mut waits, mut in_a_row) = (iterations_so_far, 0, 0);
        while iteration - waits < iterations {
            if self.messages.wait_while_paused().await == WaitOutcome::Stop {
                return Ok(TaskEnd::Stopped);
            }
            iteration += 1;
            let turn = match self.turn(place, task, iteration, problem.as_deref()).await {
                Ok(turn) => turn,
                Err(TurnError::NotRecorded(failure)) => return Err(failure),
                Err(TurnError::NotStarted(error)) => return Ok(TaskEnd::Failed(error.to_string())),
                Err(TurnError::BudgetExhausted(kind)) => {
                    return Ok(TaskEnd::Failed(format!("the {kind} budget is spent")));
                }
                Err(TurnError::TimedOut) => {
                    return Ok(TaskEnd::Failed(
                        TaskFailure::Time(task.timeout_seconds).to_string(),
                    ));
                }
            };
            let counts = (iteration - waits, iterations);
            let next = self.next_step(task, &turn, counts, (waits, in_a_row));
            let reason = turn.verification.reason().to_owned();
            match next {
                NextStep::Done => return Ok(TaskEnd::Done),
                NextStep::Stop => return Ok(TaskEnd::Stopped),
                NextStep::Fail(TaskFailure::Iterations(_)) => {}
                NextStep::Fail(failure) => return Ok(TaskEnd::Failed(failure.to_string())),
                NextStep::Recover => {
                    return Ok(TaskEnd::Failed(format!("it is stuck: {reason}")));
                }
                NextStep::Continue => in_a_row = 0,
                NextStep::Wait { until } => {
                    waits += 1;
                    in_a_row += 1;
                    if self.wait_until(until).await == WaitOutcome::Stop {
                        return Ok(TaskEnd::Stopped);
                    }
                }
            }
            problem = Some(reason);
        }
        let problem = problem.unwrap_or_default();
        Ok(TaskEnd::Failed(format!(
            "not done after {}: {problem}",
            pluralize(iterations as usize, "iteration")
        )))
    }

    /// Merges work that passed, and keeps other work.
    async fn conclude_exploration(
        &self,
        tree: &Worktree,
        place: &TurnContext,
        task: &Task,
        end: TaskEnd,
        budget: &VerificationBudget,
    ) -> Conclusion {
        let author = &self.task_loop.author;
        let message = format!("Work on {} on {}", task.id, tree.branch());
        if let Err(error) = tree.commit_all(author, &message).await {
            return Conclusion::Unmerged(Some(tree.location()), error.to_string());
        }
        match end {
            TaskEnd::Done => {}
            TaskEnd::Failed(reason) => {
                return Conclusion::Unmerged(remove_folder(tree).await, reason);
            }
            TaskEnd::Stopped => return Conclusion::Stopped(tree.location()),
        }
        let Some(passed) = self.state.passed_on(tree.branch()) else {
            let reason = "the verified result is unknown".to_owned();
            return Conclusion::Unmerged(Some(tree.location()), reason);
        };
        let checks = |_| {
            let verifying = place.executors.verify_success(task, passed, budget);
            self.verify_unless_stopped(verifying)
        };
        let is_wanted = || !self.context.control().is_cancelled();
        match tree.merge_while(author, is_wanted, checks).await {
            Ok(_) => match tree.remove().await {
                Ok(()) => Conclusion::Merged(None),
                Err(error) => {
                    tracing::warn!(%error, "cannot remove a merged worktree");
                    Conclusion::Merged(Some(tree.location()))
                }
            },
            // An interrupted check says nothing about the work.
            Err(_) if self.messages.is_cancelled() => Conclusion::Stopped(tree.location()),
            Err(error) => Conclusion::Unmerged(Some(tree.location()), error.to_string()),
        }
    }
}

enum Conclusion {
    /// The work is merged; remains of its checks may be left in the worktree.
    Merged(Option<WorkLocation>),
    Unmerged(Option<WorkLocation>, String),
    Stopped(WorkLocation),
}

/// Removes the folder of committed work; returns the location of the work, if there is any.
async fn remove_folder(tree: &Worktree) -> Option<WorkLocation> {
    if tree.remove().await.is_ok() {
        return None;
    }
    if let Err(error) = tree.remove_folder_only().await {
        tracing::warn!(%error, "cannot remove a worktree");
    }
    Some(tree.location())
}

/// Maximum number of names tried for a branch that exists already.
const NAMES: u32 = 100;

/// Maximum length of the part of a name that comes from the task ID.
const LONGEST: usize = 40;

/// Returns whether nothing is left of an exploration.
pub(super) async fn is_removed(trees: &Worktrees, branch: &str) -> bool {
    let name = branch.rsplit('/').next().unwrap_or_default();
    let left = trees.remaining().await;
    left.is_ok_and(|left| left.iter().all(|it| it != name))
}

/// Opens the worktree of an interrupted exploration, or creates it; returns the number of its
/// iterations so far.
pub(super) async fn open_or_create(
    trees: &Worktrees,
    own: &Worktree,
    task: &Task,
    way: &ExplorationBranch,
    left: Option<(String, u32)>,
) -> Result<(Worktree, u32), IsolationError> {
    if let Some((branch, iterations_so_far)) = left {
        let name = branch.rsplit('/').next().unwrap_or_default();
        if let Some(tree) = trees.open_existing(name).await? {
            tree.make_folder()?;
            return Ok((tree, iterations_so_far));
        }
    }
    Ok((create_worktree(trees, own, task, &way.name).await?, 0))
}

async fn create_worktree(
    trees: &Worktrees,
    own: &Worktree,
    task: &Task,
    branch: &str,
) -> Result<Worktree, IsolationError> {
    let member = own.branch().rsplit('/').next().unwrap_or_default();
    let name = format!("{member}.{}.{}", plain(&task.id), branch);
    let mut created = trees.create(&name, own.branch()).await;
    for number in 2..NAMES {
        if !matches!(created, Err(IsolationError::Exists(_))) {
            break;
        }
        // The worktree of an earlier run, perhaps with unseen work.
        created = trees
            .create(&format!("{name}-{number}"), own.branch())
            .await;
    }
    created
}

/// Returns a part of a name for a task ID, unique for each ID.
fn plain(id: &TaskId) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let text: String = id.as_str().chars().take(LONGEST).map(plain).collect();
    if text == id.as_str() {
        return text;
    }
    // The replaced or truncated characters may be the only difference between two IDs.
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
