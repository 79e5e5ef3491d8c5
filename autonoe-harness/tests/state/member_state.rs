//! Tests of `SqliteState`: tasks, their status and their executions.

use std::time::Duration;

use autonoe_harness::executor::ExecutionOutcome;
use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::state::{
    ExecutionRecord, MemberPlan, SqliteState, StateError, StoredTask, TaskStatus, TaskUpdate,
};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{ExecutionReport, Task, TaskId};
use jiff::Timestamp;
use tempfile::TempDir;

/// Creates an empty state. The folder lives as long as the returned guard.
async fn empty() -> (TempDir, SqliteState) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("m/state.db");
    let state = SqliteState::open(&path).await.expect("it opens");
    (dir, state)
}

/// Returns a time, `seconds` after a fixed start.
fn at(seconds: i64) -> Timestamp {
    Timestamp::new(1_790_000_000 + seconds, 123_456_789).expect("a time")
}

fn id(text: &str) -> TaskId {
    text.parse().expect("an id")
}

fn task(name: &str, depends: &[&str]) -> PlannedTask {
    let task = Task::new(name, format!("Do {name} \u{2014} \"fully\".")).expect("an id");
    let mut planned = PlannedTask::new(task.description(name).context("1 < 2\n\u{0}"));
    planned.depends = depends.iter().map(|text| id(text)).collect();
    planned
}

fn plan(tasks: &[(&str, &[&str])]) -> MemberPlan {
    let tasks = tasks.iter().map(|(name, depends)| task(name, depends));
    let mut plan = MemberPlan::new(MemberId::new("m"), tasks);
    plan.roadmap = Some("docs/ROADMAP.md".into());
    plan
}

async fn update(state: &SqliteState, task: &str, update: &TaskUpdate, second: i64) {
    let updated = state
        .update_task_status(&id(task), update, at(second))
        .await;
    updated.expect("it is kept");
}

async fn tasks(state: &SqliteState) -> Vec<StoredTask> {
    state.tasks().await.expect("readable")
}

fn statuses(tasks: &[StoredTask]) -> Vec<(&str, TaskStatus)> {
    let tasks = tasks.iter();
    tasks
        .map(|task| (task.task.id.as_str(), task.status))
        .collect()
}

// Shows: fleets/state/init
#[tokio::test]
async fn a_plan_is_stored_unchanged_and_in_its_order() {
    let (_dir, state) = empty().await;
    let plan = plan(&[("z", &[]), ("a", &["z"]), ("m", &["a", "z"])]);

    state.init_member(&plan, at(0)).await.expect("it is kept");

    let tasks = tasks(&state).await;
    assert_eq!(tasks.len(), plan.tasks.len());
    for (found, planned) in tasks.iter().zip(&plan.tasks) {
        assert_eq!(found.task, planned.task);
        assert_eq!(found.depends, planned.depends);
        assert_eq!(found.status, TaskStatus::Pending);
        let loaded = state.load_task(&planned.task.id).await.expect("readable");
        assert_eq!(loaded.as_ref(), Some(found));
    }
    assert_eq!(state.load_task(&id("x")).await.expect("readable"), None);
}

#[tokio::test]
async fn storing_a_plan_again_adds_new_tasks_and_keeps_started_ones() {
    let (_dir, state) = empty().await;
    let first = plan(&[("a", &[]), ("b", &[]), ("c", &[])]);
    state.init_member(&first, at(0)).await.expect("it is kept");
    let done = TaskUpdate {
        output: Some("yes".to_owned()),
        ..TaskUpdate::new(TaskStatus::Completed)
    };
    update(&state, "a", &done, 1).await;
    update(&state, "b", &TaskUpdate::new(TaskStatus::InProgress), 2).await;
    let mut again = plan(&[("new", &[]), ("a", &[]), ("b", &[]), ("c", &["new"])]);
    again.tasks[1].task.goal = "Something else.".to_owned();
    again.tasks[3].task.goal = "Something else.".to_owned();

    for second in [4, 5] {
        let stored = state.init_member(&again, at(second)).await;
        stored.expect("it is kept");
    }

    let tasks = tasks(&state).await;
    let expected = [
        ("new", TaskStatus::Pending),
        ("a", TaskStatus::Completed),
        ("b", TaskStatus::InProgress),
        ("c", TaskStatus::Pending),
    ];
    assert_eq!(statuses(&tasks), expected);
    assert_eq!(tasks[1].task, first.tasks[0].task);
    assert_eq!(tasks[1].output.as_deref(), Some("yes"));
    assert_eq!(tasks[3].task, again.tasks[3].task);
    assert_eq!(tasks[3].depends, again.tasks[3].depends);
}

#[tokio::test]
async fn a_ticked_task_is_completed() {
    let (_dir, state) = empty().await;
    let mut ticked = plan(&[("a", &[]), ("b", &["a"])]);
    ticked.tasks[0].is_done = true;

    state.init_member(&ticked, at(0)).await.expect("it is kept");

    let left = state.get_incomplete_tasks().await.expect("readable");
    assert_eq!(statuses(&left), [("b", TaskStatus::Pending)]);
}

#[tokio::test]
async fn each_member_has_its_own_state() {
    let (_dir, state) = empty().await;
    let own = plan(&[("a", &[])]);
    state.init_member(&own, at(0)).await.expect("it is kept");
    let mut other = plan(&[("b", &[])]);
    other.member = MemberId::new("other");

    let refused = state.init_member(&other, at(0)).await;

    assert!(
        matches!(refused, Err(StateError::Conflict(_))),
        "{refused:?}"
    );
    assert_eq!(tasks(&state).await.len(), 1);
}

#[tokio::test]
async fn a_saved_task_is_added_at_the_end_and_keeps_its_outcome() {
    let (_dir, state) = empty().await;
    for new in [task("b", &[]), task("a", &["b"])] {
        state.save_task(&new, at(0)).await.expect("it is kept");
    }
    let failure = TaskUpdate {
        error: Some("no".to_owned()),
        ..TaskUpdate::new(TaskStatus::Failed)
    };
    update(&state, "b", &failure, 1).await;
    let mut changed = task("b", &[]);
    changed.task.goal = "Something else.".to_owned();

    state.save_task(&changed, at(2)).await.expect("it is kept");

    let tasks = tasks(&state).await;
    let expected = [("b", TaskStatus::Failed), ("a", TaskStatus::Pending)];
    assert_eq!(statuses(&tasks), expected);
    assert_eq!(tasks[0].error.as_deref(), Some("no"));
    assert_eq!(tasks[0].task, changed.task);
}

#[tokio::test]
async fn a_started_task_can_be_saved_and_keeps_its_status_and_output() {
    for status in [TaskStatus::InProgress, TaskStatus::Completed] {
        let (_dir, state) = empty().await;
        let saved = state.save_task(&task("a", &[]), at(0)).await;
        saved.expect("it is kept");
        let before = TaskUpdate {
            output: Some("half".to_owned()),
            ..TaskUpdate::new(status)
        };
        update(&state, "a", &before, 1).await;
        let mut changed = task("a", &[]);
        changed.task.goal = "Something else.".to_owned();

        state.save_task(&changed, at(2)).await.expect("it is kept");

        let tasks = tasks(&state).await;
        assert_eq!(statuses(&tasks), [("a", status)]);
        assert_eq!(tasks[0].output.as_deref(), Some("half"));
        assert_eq!(tasks[0].task, changed.task);
    }
}

#[tokio::test]
async fn a_task_that_was_in_progress_at_a_crash_is_open_again() {
    let (_dir, state) = empty().await;
    let plan = plan(&[("a", &[]), ("b", &[])]);
    state.init_member(&plan, at(0)).await.expect("it is kept");

    update(&state, "a", &TaskUpdate::new(TaskStatus::InProgress), 1).await;
    update(&state, "b", &TaskUpdate::new(TaskStatus::Completed), 2).await;

    let left = state.get_incomplete_tasks().await.expect("readable");
    assert_eq!(statuses(&left), [("a", TaskStatus::InProgress)]);
}

#[tokio::test]
async fn the_status_of_a_task_can_be_set_to_any_value() {
    let (_dir, state) = empty().await;
    let plan = plan(&[("a", &[])]);
    state.init_member(&plan, at(0)).await.expect("it is kept");
    for (number, status) in (1..).zip([
        TaskStatus::Cancelled,
        TaskStatus::Completed,
        TaskStatus::Pending,
        TaskStatus::InProgress,
        TaskStatus::Failed,
        TaskStatus::Pending,
    ]) {
        let new = TaskUpdate {
            output: Some("half".to_owned()),
            error: Some(format!("{number}")),
            ..TaskUpdate::new(status)
        };
        update(&state, "a", &new, number).await;
        // Repeating an update changes nothing, not even the time.
        update(&state, "a", &new, number + 1).await;

        let stored = state.load_task(&id("a")).await.expect("readable");
        let stored = stored.expect("it is there");
        assert_eq!(stored.status, status);
        assert_eq!((stored.output, stored.error), (new.output, new.error));
        assert_eq!(stored.updated_at, at(number));
    }

    let done = TaskUpdate::new(TaskStatus::Completed);
    let unknown = state.update_task_status(&id("x"), &done, at(9)).await;

    assert!(
        matches!(unknown, Err(StateError::Unknown(_))),
        "{unknown:?}"
    );
}

#[tokio::test]
async fn executions_are_logged_in_order() {
    let (_dir, state) = empty().await;
    let plan = plan(&[("a", &[]), ("b", &[])]);
    state.init_member(&plan, at(0)).await.expect("it is kept");
    let record = |task: &str, attempt: u32, error: Option<&str>| {
        let task = Task::new(task, "Do it.").expect("an id");
        let report = ExecutionReport::new(&task, "codex", ExecutionOutcome::Completed);
        let mut record = ExecutionRecord::from_result(attempt, &report);
        record.success = error.is_none();
        record.output = "done\n\u{1f44b}".to_owned();
        record.error = error.map(str::to_owned);
        record.duration = Duration::new(61, 7);
        record.started_at = at(i64::from(attempt));
        record
    };
    let records = [
        record("a", 1, Some("no")),
        record("a", 1, None),
        record("a", 2, None),
    ];

    for record in &records {
        state.log_execution(record).await.expect("it is kept");
    }

    let logged = state.executions(&id("a")).await.expect("readable");
    assert_eq!(logged, records);
    assert_eq!(state.executions(&id("b")).await.expect("readable"), []);
    let unknown = state.log_execution(&record("x", 1, None)).await;
    assert!(
        matches!(unknown, Err(StateError::Unknown(_))),
        "{unknown:?}"
    );
}

/// The first defect: tasks in progress at a crash were never resumed.
/// `a_killed_member_is_resumed_and_its_task_ends_once` tests that a member works
/// on them again.
#[tokio::test]
async fn upstream_1_a_task_in_progress_at_a_crash_is_resumed() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(".harness/state.db");
    let plan = plan(&[("a", &[])]);
    let first = SqliteState::open(&path).await.expect("it opens");
    first.init_member(&plan, at(0)).await.expect("it is kept");
    update(&first, "a", &TaskUpdate::new(TaskStatus::InProgress), 0).await;
    drop(first);

    let second = SqliteState::open(&path).await.expect("it opens");
    second.init_member(&plan, at(0)).await.expect("it is kept");
    let left = second.get_incomplete_tasks().await.expect("it is read");

    assert_eq!(statuses(&left), [("a", TaskStatus::InProgress)]);
}
