//! Concludes a fleet after its strategy has finished: merges the winner's work and cleans up.

use std::time::Duration;

use super::fleet_recorder::{FleetDecision, FleetRecorder};
use super::order::keeps_work;
use super::{FleetMember, FleetRun, FleetRunError};
use crate::alert::{Alert, Severity};
use crate::budget::{Spending, VerificationBudget};
use crate::coordinate::FleetReport;
use crate::executor::{ExecutionOutcome, ExecutionReport, Task, Verification};
use crate::handle::MemberHandle;
use crate::isolation::{IsolationError, WorkLocation, Worktree, Worktrees};
use crate::strategy::MemberId;
use crate::work::{Isolation, RecoveredState, WorkOrder};

/// Poll interval while a process still uses a worktree.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum number of polls. A process that has reported its end exits within moments.
const MAX_POLLS: usize = 100;

impl FleetRun {
    /// Ends the fleet after its strategy has finished. Steps that were done before a kill are not
    /// repeated.
    pub(super) async fn conclude(
        &self,
        recorder: &mut FleetRecorder,
        mut report: FleetReport,
    ) -> Result<FleetReport, FleetRunError> {
        for member in &report.unstopped {
            self.kill_member(member).await;
        }
        // Conversations of a member that was killed.
        for member in &self.order.members {
            if let Ok(folder) = self.home.member_folder(&self.order.name, &member.id) {
                folder.remove_conversations();
            }
        }
        if let Some(trees) = &self.worktrees {
            if let Some(winner) = self.winner_to_merge(&report) {
                let budget = VerificationBudget::new(report.account.free());
                let merged = self.merge(recorder, trees, winner, &budget).await;
                let spending = budget.spending();
                if spending != Spending::default() {
                    report.account.charge(&spending);
                    recorder.save_accounts(&report.account).await?;
                }
                match merged {
                    Ok(commit) => {
                        report.merged = Some(commit);
                        self.discard_losing_worktrees(trees, winner).await?;
                    }
                    Err(NotMerged::Because(reason)) => report.not_merged = Some(reason),
                    Err(NotMerged::Error(error)) => return Err(*error),
                }
            }
            report.unmerged_work = self.remove_empty_worktrees(trees).await?;
        }
        report.success &= report.not_merged.is_none();
        for member in &mut report.results {
            member.unmerged_work.retain(|place| {
                let mut unmerged = report.unmerged_work.iter();
                unmerged.any(|other| other.branch == place.branch)
            });
        }
        self.complete_member_records().await;
        let now = self.clock.now();
        if let Some(reason) = &report.not_merged {
            let alert = Alert::new("not_merged", Severity::Error, reason, now);
            let fleet = self.order.name.as_str();
            recorder.alert(alert.detail("fleet", fleet)).await;
        }
        recorder.finish(&report).await?;
        Ok(report)
    }

    /// Kills a member that did not end after it was stopped, with its whole process tree.
    async fn kill_member(&self, member: &MemberId) {
        let folder = self.home.member_folder(&self.order.name, member);
        let Ok(handle) = folder.map_err(Into::into).and_then(MemberHandle::open) else {
            // Without a folder, the member is a task of another engine.
            return;
        };
        if handle.view().pid == Some(std::process::id()) {
            return;
        }
        if let Err(error) = handle.kill(Duration::ZERO).await {
            tracing::error!(%member, %error, "cannot kill a member that did not stop");
        }
    }

    /// Returns the winner, if its work is to be merged here.
    fn winner_to_merge(&self, report: &FleetReport) -> Option<&FleetMember> {
        let winner = report.winner.as_ref().filter(|_| report.success)?;
        let mut members = self.order.members.iter();
        let winner = members.find(|member| member.id == *winner)?;
        keeps_work(&winner.work.isolation).then_some(winner)
    }

    async fn merge(
        &self,
        recorder: &mut FleetRecorder,
        trees: &Worktrees,
        winner: &FleetMember,
        budget: &VerificationBudget,
    ) -> Result<String, NotMerged> {
        let Some(name) = tree_of(&winner.work) else {
            return Err(NotMerged::Because("it has no worktree".to_owned()));
        };
        let tree = self.open_when_free(trees, name).await?;
        let Some(tree) = tree else {
            let merged = recorder
                .merged_commit()
                .await
                .map_err(FleetRunError::from)?;
            let missing =
                || NotMerged::Because(format!("the worktree of {} does not exist", winner.id));
            return merged.ok_or_else(missing);
        };
        let message = format!("Work of {}", tree.branch());
        tree.commit_all(&self.author, &message).await?;
        let checks = |_| self.check_work(&tree, winner, budget);
        let merged = tree.merge_if(&self.author, checks).await?;
        let commit = merged.commit;
        let decision = FleetDecision::Merged {
            commit: commit.clone(),
        };
        recorder
            .record_decision(&decision)
            .await
            .map_err(FleetRunError::from)?;
        Ok(commit)
    }

    /// Verifies all tasks of the winner, in the folder of its worktree. `budget` pays the judges.
    async fn check_work(
        &self,
        tree: &Worktree,
        winner: &FleetMember,
        budget: &VerificationBudget,
    ) -> Verification {
        let open = winner.work.tasks.iter().filter(|planned| !planned.is_done);
        let tasks: Vec<&Task> = open.map(|planned| &planned.task).collect();
        let Some(executor_factory) = &self.executor_factory else {
            let has_criteria = |task: &&Task| task.success_criteria.is_some();
            return if tasks.iter().any(has_criteria) {
                Verification::unverified("no executors are configured to verify the work")
            } else {
                Verification::passed("there is nothing to verify")
            };
        };
        let executors = executor_factory(tree.folder());
        for task in tasks {
            let mut task = task.clone();
            task.cli = task.cli.or_else(|| winner.work.backend.clone());
            let verification = match executors.for_task(&task) {
                Ok(executor) => {
                    let result = self.result_of(winner, &task, executor.cli_name());
                    // After a recovery, another executor may have done the task.
                    let checker = executors.get(&result.cli).unwrap_or(executor);
                    checker.verify_success(&task, &result, budget).await
                }
                Err(error) => Verification::unverified(error.to_string()),
            };
            if !verification.is_success() {
                return verification;
            }
        }
        Verification::passed("all success criteria still hold")
    }

    /// Returns the result of a winner's task, as a judge needs it.
    fn result_of(&self, winner: &FleetMember, task: &Task, cli: &str) -> ExecutionReport {
        let folder = self.home.member_folder(&self.order.name, &winner.id);
        let events = folder.and_then(|folder| folder.work_events());
        let events = events.unwrap_or_default();
        let so_far: RecoveredState = events.into_iter().collect();
        let found = so_far.done().find(|(id, _)| **id == task.id);
        let found = found.map(|(_, result)| result.clone());
        // A member on another engine has no journal here; its criteria are verified anyway.
        found.unwrap_or_else(|| ExecutionReport::new(task, cli, ExecutionOutcome::Completed))
    }

    /// Removes the worktrees of the losers, and that of the winner, whose work is merged.
    /// Exploration worktrees of the winner are kept.
    async fn discard_losing_worktrees(
        &self,
        trees: &Worktrees,
        winner: &FleetMember,
    ) -> Result<(), IsolationError> {
        let of_winner = tree_of(&winner.work);
        for name in trees.remaining().await? {
            let is_others = self
                .worktree_owner(&name)
                .is_some_and(|it| it.id != winner.id);
            if is_others || of_winner == Some(&name) {
                // Opening the worktree waits until no process uses it.
                self.open_when_free(trees, &name).await?;
                trees.discard(&name).await?;
            }
        }
        Ok(())
    }

    /// Returns the member that owns a worktree or an exploration worktree.
    fn worktree_owner(&self, tree: &str) -> Option<&FleetMember> {
        let members = self.order.members.iter();
        let own = members.filter(|member| {
            let rest = tree_of(&member.work).and_then(|name| tree.strip_prefix(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        own.max_by_key(|member| tree_of(&member.work).map(str::len))
    }

    /// Removes worktrees without work, and returns the locations of the others.
    async fn remove_empty_worktrees(
        &self,
        trees: &Worktrees,
    ) -> Result<Vec<WorkLocation>, IsolationError> {
        let mut unmerged = Vec::new();
        // Exploration worktrees come before the worktree that they branched from, because that one
        // decides whether they contain work. Their names begin with its name.
        for name in trees.remaining().await?.into_iter().rev() {
            let place = trees.location(&name);
            match self.open_when_free(trees, &name).await {
                Ok(Some(tree)) => {
                    if let Err(error) = tree.remove().await {
                        tracing::info!(%error, "kept a worktree with work that is not merged");
                        unmerged.push(place);
                    }
                }
                Ok(None) => unmerged.push(place),
                Err(error) => {
                    tracing::warn!(%error, "cannot remove a worktree; it is kept");
                    unmerged.push(place);
                }
            }
        }
        unmerged.reverse();
        Ok(unmerged)
    }

    /// Opens a worktree, once the process that used it is gone.
    async fn open_when_free(
        &self,
        trees: &Worktrees,
        name: &str,
    ) -> Result<Option<Worktree>, IsolationError> {
        let mut polls = 0;
        loop {
            match trees.open_existing(name).await {
                Err(IsolationError::InUse { .. }) if polls < MAX_POLLS => {
                    polls += 1;
                    self.clock.sleep(POLL_INTERVAL).await;
                }
                opened => return opened,
            }
        }
    }
}

/// Reason why the work of a winner is not in the base.
enum NotMerged {
    /// The work cannot be merged, and is kept.
    Because(String),
    /// The merge is undecided: the fleet has not ended.
    Error(Box<FleetRunError>),
}

impl From<IsolationError> for NotMerged {
    fn from(error: IsolationError) -> Self {
        match error {
            // A retry may succeed.
            IsolationError::Busy { .. }
            | IsolationError::InUse { .. }
            | IsolationError::Git { .. }
            | IsolationError::Command { .. }
            | IsolationError::Io { .. } => Self::Error(Box::new(error.into())),
            error => Self::Because(error.to_string()),
        }
    }
}

impl From<FleetRunError> for NotMerged {
    fn from(error: FleetRunError) -> Self {
        Self::Error(Box::new(error))
    }
}

fn tree_of(work: &WorkOrder) -> Option<&str> {
    match &work.isolation {
        Isolation::Worktree { name, .. } => Some(name),
        Isolation::Shared => None,
    }
}
