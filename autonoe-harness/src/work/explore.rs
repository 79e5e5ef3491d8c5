//! Several ways, each in a worktree of its own.

use std::time::Duration;

use autonoe_core::Failure;

use super::WorkEvent;
use super::attempt::TaskEnd;
use super::decide::{GivenUp, Iterated, NextStep, next_step};
use super::iterate::{NoTurn, Place};
use super::messages::Held;
use super::task_loop::Work;
use super::task_so_far::WaysSoFar;
use super::way_tree::{begin, is_gone};
use crate::words::counted;
use crate::{ExecutionResult, ExplorationBranch, Task, VerificationTab, WorkPlace, Worktree};

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
    /// the member; the work of the others is kept on their branches. What an earlier life tried
    /// `before` is gone on with.
    pub(super) async fn explore(
        &mut self,
        task: &Task,
        branches: &[ExplorationBranch],
        iterations: u32,
        before: WaysSoFar,
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
        let mut left = before.open;
        if let Some((branch, _)) = &left
            && let Some(passed) = self.so_far.passed_on(branch).cloned()
            && is_gone(&trees, branch).await
        {
            // It is removed only when it is merged.
            let explored = WorkEvent::Explored {
                task: task.id.clone(),
                branch: branch.clone(),
                merged: true,
                kept: None,
                said: "it is merged".to_owned(),
            };
            self.note(&explored).await?;
            return Ok(Explored::Found(Box::new(passed)));
        }
        for branch in branches.iter().skip(before.ended) {
            let (tree, begun) = match begin(&trees, &own, task, branch, left.take()).await {
                Ok(begun) => begun,
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
            let way = match self.so_far.passed_on(tree.branch()) {
                Some(passed) => Way::Verified(Box::new(passed.clone())),
                None => self.try_way(&mut place, &task, begun, iterations).await?,
            };
            let tab = VerificationTab::new(self.account.free());
            let outcome = self.conclude_way(&tree, &place, &task, way, &tab).await;
            self.pay_checks(&tab).await?;
            let (merged, kept, words) = match &outcome {
                Conclusion::Merged(_, left) => (true, left.clone(), "it is merged".to_owned()),
                Conclusion::Kept(place, why) => (false, place.clone(), why.clone()),
                // It has not come to its end: the next life goes on there.
                Conclusion::Stopped(place) => {
                    self.kept.push(place.clone());
                    return Ok(Explored::Stopped);
                }
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
                Conclusion::Stopped(_) => {}
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
        begun: u32,
        iterations: u32,
    ) -> Result<Way, Failure> {
        let cut_off = || "it was cut off before it came to its end".to_owned();
        let mut problem = (begun > 0).then(cut_off);
        let (mut iteration, mut waits, mut in_a_row) = (begun, 0, 0);
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
            "not done after {}: {problem}",
            counted(iterations as usize, "iteration")
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
            Way::Stopped => return Conclusion::Stopped(tree.place()),
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
            // Who was stopped in a check knows nothing about the work.
            Err(_) if self.messages.is_cancelled() => Conclusion::Stopped(tree.place()),
            Err(error) => Conclusion::Kept(Some(tree.place()), error.to_string()),
        }
    }
}

impl Explored {
    /// Returns how the task ended by it, or why it did not.
    pub(super) fn ended(self) -> Result<TaskEnd, String> {
        match self {
            Self::Found(result) => Ok(TaskEnd::Done(result)),
            Self::Stopped => Ok(TaskEnd::Stopped),
            Self::Nothing(why) => Err(why),
        }
    }
}

enum Conclusion {
    /// It is merged; what its checks left behind may still be there.
    Merged(Box<ExecutionResult>, Option<WorkPlace>),
    Kept(Option<WorkPlace>, String),
    Stopped(WorkPlace),
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
