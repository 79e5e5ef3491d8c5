//! Conformance tests of the state stores, and a regression test of an earlier harness.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::state::{
    MemberPlan, MetaState, SqliteMeta, SqliteState, StateStore, TaskStatus, TaskUpdate,
};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{Task, conformance};
use jiff::Timestamp;
use tempfile::TempDir;

/// Creates file names, each a new one.
struct Files {
    dir: TempDir,
    count: AtomicU32,
}

impl Files {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let count = AtomicU32::new(0);
        Self { dir, count }
    }

    fn next(&self) -> PathBuf {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.dir.path().join(format!("{number}/state.db"))
    }
}

#[tokio::test]
async fn state_in_memory_keeps_the_contract() {
    let empty = async || {
        let state = SqliteState::in_memory().await.expect("it opens");
        Arc::new(state) as Arc<dyn StateStore>
    };

    conformance::state_store(&empty).await.assert();
}

// Shows: fleets/state/init
#[tokio::test]
async fn state_in_sqlite_keeps_the_contract() {
    let files = Files::new();
    let empty = async || {
        let state = SqliteState::open(&files.next()).await.expect("it opens");
        Arc::new(state) as Arc<dyn StateStore>
    };

    conformance::state_store(&empty).await.assert();
}

#[tokio::test]
async fn a_coordinators_state_in_memory_keeps_the_contract() {
    let empty = async || {
        let meta = SqliteMeta::in_memory().await.expect("it opens");
        Arc::new(meta) as Arc<dyn MetaState>
    };

    conformance::meta_state(&empty).await.assert();
}

// Shows: fleets/state/meta
#[tokio::test]
async fn a_coordinators_state_in_sqlite_keeps_the_contract() {
    let files = Files::new();
    let empty = async || {
        let meta = SqliteMeta::open(&files.next()).await.expect("it opens");
        Arc::new(meta) as Arc<dyn MetaState>
    };

    conformance::meta_state(&empty).await.assert();
}

/// The first defect: tasks in progress at a crash were never resumed.
/// `a_killed_member_is_resumed_and_its_task_ends_once` tests that a member works
/// on them again.
#[tokio::test]
async fn upstream_1_a_task_in_progress_at_a_crash_is_picked_up_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(".harness/state.db");
    let now = Timestamp::UNIX_EPOCH;
    let task = PlannedTask::new(Task::new("a", "Do it.").expect("an id"));
    let plan = MemberPlan::new(MemberId::new("m"), [task]);
    let first = SqliteState::open(&path).await.expect("it opens");
    first.init_member(&plan, now).await.expect("kept");
    let (id, begun) = (
        &plan.tasks[0].task.id,
        TaskUpdate::new(TaskStatus::InProgress),
    );
    let begun = first.update_task_status(id, &begun, now).await;
    begun.expect("kept");
    drop(first);

    let second = SqliteState::open(&path).await.expect("it opens");
    second.init_member(&plan, now).await.expect("kept");
    let left = second.get_incomplete_tasks().await.expect("it is read");

    assert_eq!(left.len(), 1);
    assert_eq!(left[0].status, TaskStatus::InProgress);
}
