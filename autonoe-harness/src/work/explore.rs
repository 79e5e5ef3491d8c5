//! Several ways, each in a worktree of its own.

use std::time::Duration;

use autonoe_core::Failure;
use sha2::{Digest, Sha256};

use super::WorkEvent;
use super::decide::{GivenUp, Iterated, NextStep, next_step};
use super::iterate::{NoTurn, Place};
use super::messages::Held;
use super::task_loop::Work;
use crate::{
    ExecutionResult, ExplorationBranch, IsolationError, Task, TaskId, VerificationTab, WorkPlace,
    Worktree, Worktrees,
};

/// How often another name is tried for a branch that is there already.
const NAMES: u32 = 100;

/// How much of a task's id becomes a part of a name.
const LONGEST: usize = 40;

/// What came of several ways.
pub(super) enum Explored {
    /// One passed its checks, and is merged.
    Found(Box<ExecutionResult>),
    /// None did.
    Nothing(String),
    /// The work was stopped.
    Stopped,
}

/// What came of one way.
enum Way {
    Verified(Box<ExecutionResult>),
    Failed(String),
    Stopped,
}

impl Work<'_> {
    /// Tries ways one after the other until one passes its checks. Its work is merged into that of
    /// the member; the work of the others is kept on their branches.
    pub(super) async fn explore(
        &mut self,
        task: &Task,
        branches: &[ExplorationBranch],
        iterations: u32,
    ) -> Result<Explored, Failure> {
        let (Some(own), Some(trees)) = (self.worktree.clone(), self.lines.worktrees.clone()) else {
            return Ok(Explored::Nothing(
                "there is no worktree to branch from".to_owned(),
            ));
        };
        let message = format!("Work on {} before other ways are tried", task.id);
        if let Err(error) = own.finish(&self.lines.author, &message).await {
            return Ok(Explored::Nothing(error.to_string()));
        }
        let mut said = Vec::new();
        for branch in branches {
            let tree = match make(&trees, &own, task, &branch.name).await {
                Ok(tree) => tree,
                Err(error) => {
                    // Not isolated is not tried.
                    said.push(format!("{}: {error}", branch.name));
                    continue;
                }
            };
            let mut task = task.clone();
            task.goal = branch.goal.clone();
            let folder = tree.folder().to_owned();
            let mut place = self.place(folder, Some(tree.branch().to_owned())).await;
            let way = self.try_way(&mut place, &task, iterations).await?;
            let tab = VerificationTab::new(self.account.free());
            let outcome = self.conclude_way(&tree, &place, &task, way, &tab).await;
            self.pay_checks(&tab).await?;
            let (merged, kept, words) = match &outcome {
                Conclusion::Merged(_, left) => (true, left.clone(), "it is merged".to_owned()),
                Conclusion::Kept(place, why) => (false, place.clone(), why.clone()),
                Conclusion::Stopped(place) => (false, place.clone(), "it was stopped".to_owned()),
            };
            self.kept.extend(kept.clone());
            let explored = WorkEvent::Explored {
                task: task.id.clone(),
                branch: tree.branch().to_owned(),
                merged,
                kept: kept.clone(),
                said: words.clone(),
            };
            self.note(&explored).await?;
            match outcome {
                Conclusion::Merged(result, _) => return Ok(Explored::Found(result)),
                Conclusion::Stopped(_) => return Ok(Explored::Stopped),
                Conclusion::Kept(place, why) => said.push(match place {
                    Some(place) => format!("{why} (its work is on {place})"),
                    None => why,
                }),
            }
        }
        Ok(Explored::Nothing(said.join("; ")))
    }

    async fn try_way(
        &mut self,
        place: &mut Place,
        task: &Task,
        iterations: u32,
    ) -> Result<Way, Failure> {
        let mut problem: Option<String> = None;
        let (mut iteration, mut waits, mut in_a_row) = (0, 0, 0);
        while iteration - waits < iterations {
            if self.messages.hold().await == Held::Stop {
                return Ok(Way::Stopped);
            }
            iteration += 1;
            let turn = match self
                .iterate(place, task, iteration, problem.as_deref())
                .await
            {
                Ok(turn) => turn,
                Err(NoTurn::NotRecorded(failure)) => return Err(failure),
                Err(NoTurn::NotBegun(error)) => return Ok(Way::Failed(error.to_string())),
                Err(NoTurn::Spent(kind)) => {
                    return Ok(Way::Failed(format!("nothing is left of the {kind}")));
                }
                Err(NoTurn::TimeIsOver) => {
                    return Ok(Way::Failed(GivenUp::Time(task.timeout_seconds).to_string()));
                }
            };
            let next = next_step(&Iterated {
                end: &turn.result.end,
                verification: &turn.verification,
                report: &turn.report,
                iteration: iteration - waits,
                max_iterations: iterations,
                spent: self.account.exhausted(),
                is_cancelled: self.messages.is_cancelled(),
                waits,
                waits_in_a_row: in_a_row,
                max_wait: Duration::from_secs(self.order.max_wait_seconds),
                over: self.is_over(task),
                now: self.lines.clock.now(),
            });
            let why = turn.verification.reason().to_owned();
            match next {
                NextStep::Done => return Ok(Way::Verified(Box::new(turn.result))),
                NextStep::Stop => return Ok(Way::Stopped),
                NextStep::GiveUp(GivenUp::Iterations(_)) => {}
                NextStep::GiveUp(given_up) => return Ok(Way::Failed(given_up.to_string())),
                NextStep::Recover => {
                    return Ok(Way::Failed(format!("it is stuck as well: {why}")));
                }
                NextStep::Again => in_a_row = 0,
                NextStep::Wait { until } => {
                    waits += 1;
                    in_a_row += 1;
                    if self.wait_until(until).await == Held::Stop {
                        return Ok(Way::Stopped);
                    }
                }
            }
            problem = Some(why);
        }
        let problem = problem.unwrap_or_default();
        Ok(Way::Failed(format!(
            "not done after {iterations} iterations: {problem}"
        )))
    }

    /// Merges what passed, and keeps what did not.
    async fn conclude_way(
        &self,
        tree: &Worktree,
        place: &Place,
        task: &Task,
        way: Way,
        tab: &VerificationTab,
    ) -> Conclusion {
        let author = &self.lines.author;
        let message = format!("Work on {} on {}", task.id, tree.branch());
        if let Err(error) = tree.finish(author, &message).await {
            return Conclusion::Kept(Some(tree.place()), error.to_string());
        }
        let result = match way {
            Way::Verified(result) => result,
            Way::Failed(why) => return Conclusion::Kept(put_away(tree).await, why),
            Way::Stopped => return Conclusion::Stopped(put_away(tree).await),
        };
        let verified: &ExecutionResult = &result;
        let checks = |_| {
            let looking = place.executors.verify_on_tab(task, verified, tab);
            self.unless_stopped(looking)
        };
        let wanted = || !self.desk.control().is_cancelled();
        match tree.merge_while(author, wanted, checks).await {
            Ok(_) => match tree.remove().await {
                Ok(()) => Conclusion::Merged(result, None),
                Err(error) => {
                    tracing::warn!(%error, "a worktree that was merged is left");
                    Conclusion::Merged(result, Some(tree.place()))
                }
            },
            Err(error) => Conclusion::Kept(Some(tree.place()), error.to_string()),
        }
    }
}

enum Conclusion {
    /// It is merged; what its checks left behind may still be there.
    Merged(Box<ExecutionResult>, Option<WorkPlace>),
    Kept(Option<WorkPlace>, String),
    Stopped(Option<WorkPlace>),
}

/// Removes the folder of work that was committed; returns where the work is, if there is any.
async fn put_away(tree: &Worktree) -> Option<WorkPlace> {
    if tree.remove().await.is_ok() {
        return None;
    }
    if let Err(error) = tree.put_away().await {
        tracing::warn!(%error, "a worktree is left");
    }
    Some(tree.place())
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
