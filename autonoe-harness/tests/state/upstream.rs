//! What went wrong in an earlier harness of others does not go wrong here.

use std::time::Duration;

use autonoe_harness::{
    Claimant, HarnessId, HarnessPlan, SqliteState, StateStore, Task, TaskEnd, TaskPlan, TaskStatus,
};
use jiff::Timestamp;

/// The first of its defects: tasks in progress at a crash were never picked up again.
#[tokio::test]
async fn upstream_1_a_task_in_progress_at_a_crash_is_picked_up_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(".harness/state.db");
    let began = Timestamp::UNIX_EPOCH;
    let task = TaskPlan::new(Task::new("a", "Do it.").expect("an id"));
    let plan = HarnessPlan::new(HarnessId::new("h"), [task]);
    let first = SqliteState::open(&path).await.expect("it opens");
    first.init_harness(&plan, began).await.expect("kept");
    let lost = first.claim_next(&Claimant::new("first"), began).await;
    let lost = lost.expect("it is asked").expect("one is ready");
    drop(first);

    let second = SqliteState::open(&path).await.expect("it opens");
    second.init_harness(&plan, began).await.expect("kept");
    let left = second.get_incomplete_tasks().await.expect("it is read");
    let later = began + Claimant::USUAL_LEASE;
    let taken = second.claim_next(&Claimant::new("second"), later).await;
    let taken = taken.expect("it is asked").expect("it is picked up");
    let other = second.claim_next(&Claimant::new("third"), later).await;

    assert_eq!(left.len(), 1);
    assert_eq!(left[0].status, TaskStatus::InProgress);
    assert_eq!((taken.id(), taken.takes_over), (lost.id(), true));
    assert_eq!(other.expect("it is asked"), None);
    let stale = second.finish(&lost, &TaskEnd::completed(""), later).await;
    stale.expect_err("it was taken over");
    let end = TaskEnd::completed("done");
    second.finish(&taken, &end, later).await.expect("it ends");
    let much_later = later + Duration::from_secs(1_000_000);
    let none = second.claim_next(&Claimant::new("x"), much_later).await;
    assert_eq!(none.expect("it is asked"), None);
}
