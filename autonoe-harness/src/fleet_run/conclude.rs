//! What becomes of the work, once the strategy is done.

use std::time::Duration;

use super::books::Books;
use super::check::leaves_its_work;
use super::outcome::{Concluded, Decided, FleetDecision};
use super::{FleetMember, FleetOutcome, FleetRun, FleetRunError};
use crate::{
    AggregatedResult, Alert, ExecutionEnd, ExecutionResult, HarnessHandle, HarnessId, Isolation,
    IsolationError, MetaState, ProcessHandle, Severity, Task, Verification, WorkJournal, WorkOrder,
    WorkPlace, WorkSoFar, Worktree, Worktrees,
};

/// How often it is looked whether a process that works in a worktree is gone.
const SOON: Duration = Duration::from_millis(100);

/// How often at most: one that has told its end is gone in a moment.
const LOOKS: usize = 100;

impl FleetRun {
    /// Brings the fleet to its end. What was done of that before a kill is not done again.
    pub(super) async fn conclude(
        &self,
        books: &mut Books,
        decided: Decided,
    ) -> Result<FleetOutcome, FleetRunError> {
        for member in &decided.left_behind {
            self.end_for_good(member).await;
        }
        // A member that was killed has left them.
        for member in &self.order.members {
            if let Ok(folder) = self.home.folder_of(&self.order.name, &member.id) {
                folder.remove_conversations();
            }
        }
        let mut concluded = Concluded::default();
        if let Some(trees) = &self.worktrees {
            if let Some(winner) = self.winner_to_merge(&decided.result) {
                match self.merge(books, trees, winner).await {
                    Ok(commit) => concluded.merged = Some(commit),
                    Err(NotMerged::Because(why)) => concluded.not_merged = Some(why),
                    Err(NotMerged::Error(error)) => return Err(*error),
                }
                if concluded.merged.is_some() {
                    self.discard_all_but_ways(trees, winner).await?;
                }
            }
            concluded.kept = self.tidy(trees).await?;
        }
        let mut result = decided.result.clone();
        result.success &= concluded.not_merged.is_none();
        for member in &mut result.results {
            let is_kept = |place: &WorkPlace| {
                let mut kept = concluded.kept.iter();
                kept.any(|kept| kept.branch == place.branch)
            };
            member.kept.retain(is_kept);
        }
        if let Some(why) = &concluded.not_merged {
            let alert = Alert::new("not_merged", Severity::Error, why, self.clock.now());
            let fleet = self.order.name.as_str();
            books.alert(alert.with("fleet", fleet)).await;
        }
        books
            .decide(&FleetDecision::Concluded(concluded.clone()))
            .await?;
        let now = self.clock.now();
        books.meta.finish_fleet(&books.lead, &result, now).await?;
        let accounts = books.meta.accounts(&self.order.name).await?;
        Ok(FleetOutcome::of(result, decided, concluded, accounts))
    }

    /// Ends a member that did not end when it was told to, with all that it started.
    async fn end_for_good(&self, member: &HarnessId) {
        let folder = self.home.folder_of(&self.order.name, member);
        let Ok(handle) = folder.map_err(Into::into).and_then(ProcessHandle::open) else {
            // It has no folder: it is a task of somebody's engine.
            return;
        };
        if handle.view().pid == Some(std::process::id()) {
            return;
        }
        if let Err(error) = handle.kill(Duration::ZERO).await {
            tracing::error!(%member, %error, "a member that was left behind cannot be ended");
        }
    }

    /// Returns the winner, if its work waits for us.
    fn winner_to_merge(&self, result: &AggregatedResult) -> Option<&FleetMember> {
        let winner = result.winner.as_ref().filter(|_| result.success)?;
        let mut members = self.order.members.iter();
        let winner = members.find(|member| member.id == *winner)?;
        leaves_its_work(&winner.work.isolation).then_some(winner)
    }

    async fn merge(
        &self,
        books: &mut Books,
        trees: &Worktrees,
        winner: &FleetMember,
    ) -> Result<String, NotMerged> {
        let Some(name) = tree_of(&winner.work) else {
            return Err(NotMerged::Because("it has no worktree".to_owned()));
        };
        let tree = self.take_up(trees, name).await?;
        let Some(tree) = tree else {
            let merged = books.merged().await.map_err(FleetRunError::from)?;
            let gone = || NotMerged::Because(format!("the worktree of {} is gone", winner.id));
            return merged.ok_or_else(gone);
        };
        let message = format!("Work of {}", tree.branch());
        tree.finish(&self.author, &message).await?;
        let checks = |_| self.check_work(&tree, winner);
        let merged = tree.merge_if(&self.author, checks).await?;
        let commit = merged.commit;
        let decision = FleetDecision::Merged {
            commit: commit.clone(),
        };
        books.decide(&decision).await.map_err(FleetRunError::from)?;
        Ok(commit)
    }

    /// Looks whether all that the winner was to do holds, in the folder of its worktree.
    async fn check_work(&self, tree: &Worktree, winner: &FleetMember) -> Verification {
        let open = winner.work.tasks.iter().filter(|planned| !planned.is_done);
        let tasks: Vec<&Task> = open.map(|planned| &planned.task).collect();
        let Some(workshop) = &self.workshop else {
            let has_criteria = |task: &&Task| task.success_criteria.is_some();
            return match tasks.iter().any(has_criteria) {
                true => Verification::unverified("nobody said how work is checked"),
                false => Verification::passed("nothing is to be checked"),
            };
        };
        let executors = workshop(tree.folder());
        for task in tasks {
            let mut task = task.clone();
            task.cli = task.cli.or_else(|| winner.work.backend.clone());
            let looked = match executors.for_task(&task) {
                Ok(executor) => {
                    let result = self.result_of(winner, &task, executor.cli_name());
                    // An agent that was helped may have been another one's.
                    let checker = executors.get(&result.cli).unwrap_or(executor);
                    checker.verify_success(&task, &result).await
                }
                Err(error) => Verification::unverified(error.to_string()),
            };
            if !looked.is_success() {
                return looked;
            }
        }
        Verification::passed("all that was verified still holds")
    }

    /// Returns what came of a task of the winner, as a judge wants to know it.
    fn result_of(&self, winner: &FleetMember, task: &Task, cli: &str) -> ExecutionResult {
        let folder = self.home.folder_of(&self.order.name, &winner.id);
        let journal = folder.map(|folder| WorkJournal::read(&folder.path().join("work.jsonl")));
        let events = journal.ok().and_then(Result::ok).unwrap_or_default();
        let so_far: WorkSoFar = events.into_iter().collect();
        let found = so_far.done().find(|(id, _)| **id == task.id);
        let found = found.map(|(_, result)| result.clone());
        // A member that is no process of ours keeps no journal; what must hold is checked all the same.
        found.unwrap_or_else(|| ExecutionResult::new(task, cli, ExecutionEnd::Completed))
    }

    /// Takes away all of those that did not win, and the worktree of the winner, whose work is in
    /// the base. Other ways that the winner had tried are kept.
    async fn discard_all_but_ways(
        &self,
        trees: &Worktrees,
        winner: &FleetMember,
    ) -> Result<(), IsolationError> {
        let of_winner = tree_of(&winner.work);
        for name in trees.left().await? {
            let is_others = self.is_of(&name).is_some_and(|it| it.id != winner.id);
            if is_others || of_winner == Some(&name) {
                // Who is asked first waits until nobody works there.
                self.take_up(trees, &name).await?;
                trees.discard(&name).await?;
            }
        }
        Ok(())
    }

    /// Returns the member that a worktree is of, or a branch that it made for another way.
    fn is_of(&self, tree: &str) -> Option<&FleetMember> {
        let members = self.order.members.iter();
        let own = members.filter(|member| {
            let rest = tree_of(&member.work).and_then(|name| tree.strip_prefix(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        own.max_by_key(|member| tree_of(&member.work).map(str::len))
    }

    /// Takes away what holds no work, and returns where the rest is.
    async fn tidy(&self, trees: &Worktrees) -> Result<Vec<WorkPlace>, IsolationError> {
        let mut kept = Vec::new();
        // Other ways come before the work that they branched from, by which it is seen whether they
        // hold any: their names begin with its name.
        for name in trees.left().await?.into_iter().rev() {
            let place = trees.place_of(&name);
            match self.take_up(trees, &name).await {
                Ok(Some(tree)) => {
                    if let Err(error) = tree.remove().await {
                        tracing::info!(%error, "work of a fleet is kept");
                        kept.push(place);
                    }
                }
                Ok(None) => kept.push(place),
                Err(error) => {
                    tracing::warn!(%error, "what is left of a fleet is kept");
                    kept.push(place);
                }
            }
        }
        kept.reverse();
        Ok(kept)
    }

    /// Takes up a worktree, as soon as the process is gone that worked there.
    async fn take_up(
        &self,
        trees: &Worktrees,
        name: &str,
    ) -> Result<Option<Worktree>, IsolationError> {
        let mut looks = 0;
        loop {
            match trees.take_up(name).await {
                Err(IsolationError::InUse { .. }) if looks < LOOKS => {
                    looks += 1;
                    self.clock.sleep(SOON).await;
                }
                taken => return taken,
            }
        }
    }
}

/// Why the work of a winner is not in the base.
enum NotMerged {
    /// It cannot be; it is kept.
    Because(String),
    /// Nobody knows yet: the fleet has not ended.
    Error(Box<FleetRunError>),
}

impl From<IsolationError> for NotMerged {
    fn from(error: IsolationError) -> Self {
        match error {
            // Perhaps it can be when it is tried again.
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
