//! What a fleet must have come to, whoever was killed.

use std::collections::BTreeSet;

use autonoe_harness::{
    AttemptEnding, Cursor, FleetMember, FleetOrder, FleetOutcome, HarnessEvent, HarnessFolder,
    HarnessResult, MetaState, SqliteState, StateStore, StoredTask, TaskStatus, WorkEvent,
    WorkJournal,
};

use super::leftovers::nothing_is_left;
use super::scene::Scene;
use crate::fleets::ledger::Entry;
use crate::fleets::setting::Project;

/// A fleet that has ended.
pub(super) struct Ended<'a> {
    pub(super) project: &'a Project,
    pub(super) scene: Scene,
    pub(super) order: &'a FleetOrder,
    pub(super) outcome: &'a FleetOutcome,
}

impl Ended<'_> {
    /// Fails if anything is lost, done twice or left; returns how much had been acknowledged.
    pub(super) async fn count(&self) -> usize {
        self.is_kept_once().await;
        for member in &self.order.members {
            let is_waiting = self.outcome.result.not_started.contains(&member.id);
            let results = self.outcome.result.results.iter();
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

    /// Its databases are whole, and know what was told.
    async fn is_kept_once(&self) {
        let meta = self.project.home().meta().await.expect("it opens");
        meta.integrity_check().await.expect("it is whole");
        let record = meta.fleet("f").await.expect("readable");
        let record = record.expect("it is kept");
        assert_eq!(record.result.as_ref(), Some(&self.outcome.result));
        let shared = self.project.home().shared().await.expect("it opens");
        shared.integrity_check().await.expect("it is whole");
    }

    /// All tasks of a member that is done have ended once, and no task of another did twice.
    async fn ended_once(&self, member: &FleetMember, result: &HarnessResult) {
        let folder = self.folder(member);
        let outcome = folder.outcome().expect("readable");
        let outcome = outcome.expect("who is told of has ended");
        assert_eq!(outcome.is_success(), result.success, "{}", member.id);
        let path = folder.path().join("state.db");
        if !path.exists() {
            // It was killed before it had begun.
            assert!(!result.success, "{}", member.id);
            return;
        }
        let state = SqliteState::open(&path).await.expect("it opens");
        state.integrity_check().await.expect("it is whole");
        let events = WorkJournal::read(&folder.path().join("work.jsonl")).unwrap_or_default();
        self.is_shared_once(&folder, &events, result).await;
        for task in state.tasks().await.expect("readable") {
            let id = &task.task.id;
            let attempts = state.attempts(id).await.expect("readable");
            let ended = |it: &&AttemptEnding| {
                matches!(it, AttemptEnding::Completed | AttemptEnding::Failed)
            };
            let endings = attempts.iter().filter_map(|it| it.ending.as_ref());
            assert!(endings.filter(ended).count() <= 1, "{id}: {attempts:?}");
            let told = events
                .iter()
                .filter(|event| matches!(event, WorkEvent::Ended { task, .. } if task == id));
            assert!(told.count() <= 1, "{id}: {events:?}");
            if result.success {
                assert_eq!(task.status, TaskStatus::Completed, "{} {id}", member.id);
                let is_open = attempts.iter().any(|it| it.ending.is_none());
                assert!(!is_open, "{attempts:?}");
            }
            self.is_in_the_base_once(member, &task, result);
        }
    }

    /// What a member shares is in its journal, each entry once; nothing is missing if it has succeeded.
    async fn is_shared_once(
        &self,
        folder: &HarnessFolder,
        journal: &[WorkEvent],
        result: &HarnessResult,
    ) {
        let shared = self.project.home().shared().await.expect("it opens");
        let events = shared.events_since(Cursor::START, usize::MAX).await;
        let events = events.expect("readable");
        let count = |kind: &str| {
            let about_it = |event: &&HarnessEvent| {
                event.event.kind == kind && event.event.harness.as_ref() == Some(folder.id())
            };
            events.iter().filter(about_it).count()
        };
        let iterated = journal
            .iter()
            .filter(|event| matches!(event, WorkEvent::Iterated { .. }));
        let iterated = iterated.count();
        assert!(
            count("spawn") <= 1 && count("progress") <= iterated,
            "{events:?}"
        );
        if result.success {
            assert_eq!(count("spawn"), 1, "{events:?}");
            assert_eq!(count("progress"), iterated, "{events:?}");
            assert_eq!(count("complete"), 1, "{events:?}");
        }
    }

    /// The work of who is done is in the base, once.
    fn is_in_the_base_once(&self, member: &FleetMember, task: &StoredTask, result: &HarnessResult) {
        let file = format!("{}.txt", task.task.id);
        let is_there = self.project.committed("main").contains(&file);
        let is_winner = self.outcome.result.winner.as_ref() == Some(&member.id);
        let is_merged = match self.scene.is_contest() {
            true => is_winner && self.outcome.merged.is_some(),
            false => result.success,
        };
        if is_merged {
            assert!(is_there, "{file} of {} is lost", member.id);
            let text = self.project.git(&["show", &format!("main:{file}")]);
            let who = text.split([' ', '.']).next();
            assert_eq!(who, Some(member.id.as_str()), "{file}: {text}");
            // Each turn says something else: it is the work of one.
            assert_eq!(text.lines().count(), 1, "{file}: {text}");
        }
        if self.scene.is_contest() && self.outcome.merged.is_none() {
            assert!(!is_there, "{file} is in the base, and nobody won");
        }
    }

    fn is_not_lost(&self, entry: &Entry) {
        match entry {
            Entry::Task { member, task } => {
                let id = member.as_str().strip_prefix("f.").expect("a member");
                let result = self.outcome.result.results.iter();
                let result = result.clone().find(|result| result.id.as_str() == id);
                let result = result.expect("who has acknowledged something was started");
                let is_winner = self.outcome.result.winner.as_ref() == Some(&result.id);
                let is_contest = self.scene.is_contest();
                let is_cleaned = is_contest && !is_winner && self.outcome.merged.is_some();
                if !is_cleaned {
                    self.is_somewhere(id, &format!("{task}.txt"));
                }
            }
            Entry::Run { member, success } => {
                let id = member.as_str().strip_prefix("f.").expect("a member");
                let mut results = self.outcome.result.results.iter();
                let told = results.find(|result| result.id.as_str() == id);
                let told = told.map(|result| result.success);
                assert_eq!(told, Some(*success), "{member}");
            }
            Entry::Fleet { outcome } => assert_eq!(*outcome, format!("{:?}", self.outcome)),
        }
    }

    /// A file is in the base, or where the outcome says that work is kept.
    fn is_somewhere(&self, member: &str, file: &str) {
        let own = |branch: &str| {
            let name = branch.rsplit('/').next().unwrap_or_default();
            name.split('.').next() == Some(member)
        };
        let kept = self.outcome.kept.iter().filter(|kept| own(&kept.branch));
        let mut kept = kept.map(|kept| {
            let committed = self.project.committed(&kept.branch);
            committed.iter().any(|name| name == file) || kept.folder.join(file).exists()
        });
        let base: BTreeSet<_> = self.project.committed("main").into_iter().collect();
        let is_there = base.contains(file) || kept.any(|is_there| is_there);
        assert!(is_there, "{file} of {member} was acknowledged and is lost");
    }

    fn folder(&self, member: &FleetMember) -> HarnessFolder {
        let folder = self.project.home().folder_of("f", &member.id);
        folder.expect("an id")
    }
}
