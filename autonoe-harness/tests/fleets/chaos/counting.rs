//! Invariants of a fleet that has ended, whichever processes were killed.

use std::collections::BTreeSet;

use autonoe_harness::folder::MemberFolder;
use autonoe_harness::shared::{Cursor, MemberEvent};
use autonoe_harness::state::{SqliteState, StoredTask, TaskStatus};
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::work::{WorkEvent, WorkJournal};
use autonoe_harness::{FleetMember, FleetOrder, FleetReport};

use super::leftovers::nothing_is_left;
use super::scenario::Scenario;
use crate::fleets::fixture::Project;
use crate::fleets::ledger::Entry;
use crate::intact::assert_intact;

/// A fleet that has ended.
pub(super) struct Ended<'a> {
    pub(super) project: &'a Project,
    pub(super) scenario: Scenario,
    pub(super) order: &'a FleetOrder,
    pub(super) outcome: &'a FleetReport,
}

impl Ended<'_> {
    /// Fails if anything is lost, done twice or left; returns the number of acknowledged entries.
    pub(super) async fn count(&self) -> usize {
        self.is_recorded_once().await;
        for member in &self.order.members {
            let is_waiting = self.outcome.not_started.contains(&member.id);
            let results = self.outcome.results.iter();
            let results: Vec<_> = results.filter(|result| result.id == member.id).collect();
            assert_eq!(results.len() + usize::from(is_waiting), 1, "{}", member.id);
            if let Some(result) = results.first() {
                self.ended_once(member, result).await;
            }
        }
        let entries = self.project.ledger().entries();
        for entry in &entries {
            self.is_not_lost(entry);
        }
        nothing_is_left(self).await;
        entries.len()
    }

    /// Its databases are intact, and contain everything that was acknowledged.
    async fn is_recorded_once(&self) {
        let home = self.project.home();
        let meta = home.meta().await.expect("it opens");
        assert_intact(&home.path().join("meta_state.db"));
        let record = meta.fleet("f").await.expect("readable");
        let record = record.expect("it is kept");
        assert_eq!(record.result.as_ref(), Some(self.outcome));
        assert_intact(&home.path().join("shared/context.db"));
    }

    /// All tasks of a successful member have ended once, and no task of another member has ended
    /// twice.
    async fn ended_once(&self, member: &FleetMember, result: &MemberReport) {
        let folder = self.folder(member);
        let outcome = folder.outcome().expect("readable");
        let outcome = outcome.expect("a reported member has ended");
        assert_eq!(outcome.is_success(), result.success, "{}", member.id);
        let path = folder.path().join("state.db");
        if !path.exists() {
            // Killed before it had started.
            assert!(!result.success, "{}", member.id);
            return;
        }
        let state = SqliteState::open(&path).await.expect("it opens");
        assert_intact(&path);
        let events = WorkJournal::read(&folder.path().join("work.jsonl")).unwrap_or_default();
        self.is_shared_once(&folder, &events, result).await;
        for task in state.tasks().await.expect("readable") {
            let id = &task.task.id;
            let reported = events
                .iter()
                .filter(|event| matches!(event, WorkEvent::Ended { task, .. } if task == id));
            assert!(reported.count() <= 1, "{id}: {events:?}");
            if result.success {
                assert_eq!(task.status, TaskStatus::Completed, "{} {id}", member.id);
            }
            self.is_in_the_base_once(member, &task, result);
        }
    }

    /// The shared events of a member are those of its journal, each once, and one end.
    async fn is_shared_once(
        &self,
        folder: &MemberFolder,
        journal: &[WorkEvent],
        result: &MemberReport,
    ) {
        let shared = self.project.home().shared().await.expect("it opens");
        let events = shared.events_since(Cursor::START, usize::MAX).await;
        let events = events.expect("readable");
        let count = |kind: &str| {
            let about_it = |event: &&MemberEvent| {
                event.event.kind == kind && event.event.member.as_ref() == Some(folder.id())
            };
            events.iter().filter(about_it).count()
        };
        let iterated = journal
            .iter()
            .filter(|event| matches!(event, WorkEvent::IterationEnded { .. }));
        let iterated = iterated.count();
        let opened = usize::from(!journal.is_empty());
        assert_eq!(count("spawn"), opened, "{events:?}");
        assert_eq!(count("progress"), iterated, "{events:?}");
        let ends = ["complete", "fail", "stop"].map(count);
        assert_eq!(ends.iter().sum::<usize>(), opened, "{events:?}");
        if result.success {
            assert_eq!(count("complete"), 1, "{events:?}");
        }
    }

    /// The work of a successful member is in the base, once.
    fn is_in_the_base_once(&self, member: &FleetMember, task: &StoredTask, result: &MemberReport) {
        let file = format!("{}.txt", task.task.id);
        let is_there = self.project.committed("main").contains(&file);
        let is_winner = self.outcome.winner.as_ref() == Some(&member.id);
        let is_merged = if self.scenario.is_contest() {
            is_winner && self.outcome.merged.is_some()
        } else {
            result.success
        };
        if is_merged {
            assert!(is_there, "{file} of {} is lost", member.id);
            let text = self.project.git(&["show", &format!("main:{file}")]);
            let author = text.split([' ', '.']).next();
            assert_eq!(author, Some(member.id.as_str()), "{file}: {text}");
            // Each turn writes another text, so one line is the work of one turn.
            assert_eq!(text.lines().count(), 1, "{file}: {text}");
        }
        if self.scenario.is_contest() && self.outcome.merged.is_none() {
            assert!(!is_there, "{file} is in the base, without a winner");
        }
    }

    fn is_not_lost(&self, entry: &Entry) {
        match entry {
            Entry::Task { member, task } => {
                let id = member.as_str().strip_prefix("f.").expect("a member");
                let result = self
                    .outcome
                    .results
                    .iter()
                    .find(|result| result.id.as_str() == id)
                    .expect("a member with an acknowledged write was started");
                let is_winner = self.outcome.winner.as_ref() == Some(&result.id);
                let is_contest = self.scenario.is_contest();
                let is_cleaned = is_contest && !is_winner && self.outcome.merged.is_some();
                if !is_cleaned {
                    self.is_somewhere(id, &format!("{task}.txt"));
                }
            }
            Entry::Run { member, success } => {
                let id = member.as_str().strip_prefix("f.").expect("a member");
                let mut results = self.outcome.results.iter();
                let reported = results.find(|result| result.id.as_str() == id);
                let reported = reported.map(|result| result.success);
                assert_eq!(reported, Some(*success), "{member}");
            }
            Entry::Fleet { outcome } => assert_eq!(*outcome, format!("{:?}", self.outcome)),
        }
    }

    /// A file is in the base, or in a location of kept work.
    fn is_somewhere(&self, member: &str, file: &str) {
        let own = |branch: &str| {
            let name = branch.rsplit('/').next().unwrap_or_default();
            name.split('.').next() == Some(member)
        };
        let unmerged = self
            .outcome
            .unmerged_work
            .iter()
            .filter(|unmerged| own(&unmerged.branch));
        let mut unmerged = unmerged.map(|unmerged| {
            let committed = self.project.committed(&unmerged.branch);
            committed.iter().any(|name| name == file) || unmerged.folder.join(file).exists()
        });
        let base: BTreeSet<_> = self.project.committed("main").into_iter().collect();
        let is_there = base.contains(file) || unmerged.any(|is_there| is_there);
        assert!(is_there, "{file} of {member} was acknowledged and is lost");
    }

    fn folder(&self, member: &FleetMember) -> MemberFolder {
        let folder = self.project.home().member_folder("f", &member.id);
        folder.expect("an id")
    }
}
