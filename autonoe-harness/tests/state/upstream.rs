//! Regression tests for defects of an earlier harness.

use autonoe_harness::Task;
use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::state::{MemberPlan, SqliteState, StateStore, TaskStatus, TaskUpdate};
use autonoe_harness::strategy::MemberId;
use jiff::Timestamp;

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
