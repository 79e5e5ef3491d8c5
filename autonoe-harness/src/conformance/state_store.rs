//! Conformance suite of state stores.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use autonoe_testkit::conformance::{CheckOutcome, Checks, Conformance, Flaw};
use jiff::Timestamp;

use crate::executor::{Task, TaskId};
use crate::roadmap::PlannedTask;
use crate::state::{
    ExecutionRecord, MemberPlan, StateError, StateStore, StoredTask, TaskStatus, TaskUpdate,
};
use crate::strategy::MemberId;

/// Checks a [`StateStore`] against its contract. `empty` must return an empty store with each call.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_harness::state::{SqliteState, StateStore};
/// use autonoe_harness::conformance;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let empty = async || {
///     let state = SqliteState::in_memory().await.expect("it opens");
///     Arc::new(state) as Arc<dyn StateStore>
/// };
///
/// conformance::state_store(&empty).await.assert();
/// # });
/// ```
pub async fn state_store(empty: &impl AsyncFn() -> Arc<dyn StateStore>) -> Conformance {
    let mut checks = Checks::new("state store");
    checks
        .run("a plan is stored unchanged and in its order", async {
            let store = empty().await;
            let plan = plan(&[("z", &[]), ("a", &["z"]), ("m", &["a", "z"])])?;
            good(store.init_member(&plan, at(0)).await)?;
            let tasks = good(store.tasks().await)?;
            same("the number of tasks", &tasks.len(), &plan.tasks.len())?;
            for (found, planned) in tasks.iter().zip(&plan.tasks) {
                same("the task", &found.task, &planned.task)?;
                same("its dependencies", &found.depends, &planned.depends)?;
                same("its status", &found.status, &TaskStatus::Pending)?;
                let loaded = good(store.load_task(&planned.task.id).await)?;
                same("loaded alone", &loaded.as_ref(), &Some(found))?;
            }
            let none = good(store.load_task(&id("x")?).await)?;
            same("an unknown task", &none, &None)
        })
        .await;
    checks
        .run(
            "storing a plan again adds new tasks and keeps started ones",
            async {
                let store = empty().await;
                let first = plan(&[("a", &[]), ("b", &[]), ("c", &[])])?;
                good(store.init_member(&first, at(0)).await)?;
                let done = TaskUpdate::new(TaskStatus::Completed).output("yes");
                update(&*store, "a", &done, 1).await?;
                let begun = TaskUpdate::new(TaskStatus::InProgress);
                update(&*store, "b", &begun, 2).await?;
                let mut again = plan(&[("new", &[]), ("a", &[]), ("b", &[]), ("c", &["new"])])?;
                again.tasks[1].task.goal = "Something else.".to_owned();
                again.tasks[3].task.goal = "Something else.".to_owned();
                good(store.init_member(&again, at(4)).await)?;
                good(store.init_member(&again, at(5)).await)?;
                let tasks = good(store.tasks().await)?;
                let expected = vec![
                    ("new", TaskStatus::Pending),
                    ("a", TaskStatus::Completed),
                    ("b", TaskStatus::InProgress),
                    ("c", TaskStatus::Pending),
                ];
                same("their status", &status_of(&tasks), &expected)?;
                same("the completed task", &tasks[1].task, &first.tasks[0].task)?;
                same("its output", &tasks[1].output.as_deref(), &Some("yes"))?;
                same(
                    "the task that was not started",
                    &tasks[3].task,
                    &again.tasks[3].task,
                )?;
                let depends = &again.tasks[3].depends;
                same("its dependencies", &tasks[3].depends, depends)
            },
        )
        .await;
    checks
        .run("a ticked task is completed", async {
            let store = empty().await;
            let mut ticked = plan(&[("a", &[]), ("b", &["a"])])?;
            ticked.tasks[0].is_done = true;
            good(store.init_member(&ticked, at(0)).await)?;
            let left = good(store.get_incomplete_tasks().await)?;
            same(
                "the open tasks",
                &status_of(&left),
                &vec![("b", TaskStatus::Pending)],
            )
        })
        .await;
    checks
        .run("each member has its own state", async {
            let store = empty().await;
            good(store.init_member(&plan(&[("a", &[])])?, at(0)).await)?;
            let mut other = plan(&[("b", &[])])?;
            other.member = MemberId::new("other");
            match store.init_member(&other, at(0)).await {
                Err(StateError::Conflict(_)) => {
                    same("the number of tasks", &good(store.tasks().await)?.len(), &1)
                }
                other => failed(format!("{other:?}")),
            }
        })
        .await;
    checks
        .run(
            "a saved task is added at the end, and keeps its outcome",
            async {
                let store = empty().await;
                good(store.save_task(&task("b", &[])?, at(0)).await)?;
                good(store.save_task(&task("a", &["b"])?, at(0)).await)?;
                let failure = TaskUpdate::new(TaskStatus::Failed).error("no");
                update(&*store, "b", &failure, 1).await?;
                let mut changed = task("b", &[])?;
                changed.task.goal = "Something else.".to_owned();
                good(store.save_task(&changed, at(2)).await)?;
                let tasks = good(store.tasks().await)?;
                let expected = vec![("b", TaskStatus::Failed), ("a", TaskStatus::Pending)];
                same("their status", &status_of(&tasks), &expected)?;
                same("its error", &tasks[0].error.as_deref(), &Some("no"))?;
                same("its definition", &tasks[0].task, &changed.task)
            },
        )
        .await;
    checks
        .run(
            "a task that is in progress or completed can be saved, and keeps its status and result",
            async {
                for status in [TaskStatus::InProgress, TaskStatus::Completed] {
                    let store = empty().await;
                    good(store.save_task(&task("a", &[])?, at(0)).await)?;
                    let before = TaskUpdate::new(status).output("half");
                    update(&*store, "a", &before, 1).await?;
                    let mut changed = task("a", &[])?;
                    changed.task.goal = "Something else.".to_owned();
                    good(store.save_task(&changed, at(2)).await)?;
                    let tasks = good(store.tasks().await)?;
                    same("its status", &status_of(&tasks), &vec![("a", status)])?;
                    same("its output", &tasks[0].output.as_deref(), &Some("half"))?;
                    same("its definition", &tasks[0].task, &changed.task)?;
                }
                Ok(())
            },
        )
        .await;
    checks
        .run(
            "a task that was in progress at a crash is open again",
            async {
                let store = empty().await;
                good(
                    store
                        .init_member(&plan(&[("a", &[]), ("b", &[])])?, at(0))
                        .await,
                )?;
                let begun = TaskUpdate::new(TaskStatus::InProgress);
                update(&*store, "a", &begun, 1).await?;
                let done = TaskUpdate::new(TaskStatus::Completed);
                update(&*store, "b", &done, 2).await?;
                let left = good(store.get_incomplete_tasks().await)?;
                let expected = vec![("a", TaskStatus::InProgress)];
                same("the open tasks", &status_of(&left), &expected)
            },
        )
        .await;
    checks
        .run("the status of a task can be set to any value", async {
            let store = empty().await;
            good(store.init_member(&plan(&[("a", &[])])?, at(0)).await)?;
            let a = id("a")?;
            for (number, status) in (1..).zip([
                TaskStatus::Cancelled,
                TaskStatus::Completed,
                TaskStatus::Pending,
                TaskStatus::InProgress,
                TaskStatus::Failed,
                TaskStatus::Pending,
            ]) {
                let new = TaskUpdate::new(status)
                    .output("half")
                    .error(format!("{number}"));
                update(&*store, "a", &new, number).await?;
                // Repeating an update changes nothing, not even the time.
                update(&*store, "a", &new, number + 1).await?;
                let Some(stored) = good(store.load_task(&a).await)? else {
                    return failed("the task is missing");
                };
                same("the status", &stored.status, &status)?;
                same("its output", &stored.output, &new.output)?;
                same("its error", &stored.error, &new.error)?;
                same("the time", &stored.updated_at, &at(number))?;
            }
            let done = TaskUpdate::new(TaskStatus::Completed);
            unknown(store.update_task_status(&id("x")?, &done, at(9)).await)
        })
        .await;
    checks
        .run("executions are logged in order", async {
            let store = empty().await;
            good(
                store
                    .init_member(&plan(&[("a", &[]), ("b", &[])])?, at(0))
                    .await,
            )?;
            let record = |attempt, error: Option<&str>| -> CheckOutcome<_> {
                Ok(ExecutionRecord {
                    task: id("a")?,
                    attempt,
                    success: error.is_none(),
                    output: "said\n\u{1f44b}".to_owned(),
                    error: error.map(str::to_owned),
                    duration: Duration::new(61, 7),
                    started_at: at(i64::from(attempt)),
                })
            };
            let records = vec![record(1, Some("no"))?, record(1, None)?, record(2, None)?];
            for record in &records {
                good(store.log_execution(record).await)?;
            }
            let logged = good(store.executions(&id("a")?).await)?;
            same("the log", &logged, &records)?;
            let others = good(store.executions(&id("b")?).await)?;
            same("the log of another task", &others, &Vec::new())?;
            let of_none = ExecutionRecord {
                task: id("x")?,
                ..record(1, None)?
            };
            unknown(store.log_execution(&of_none).await)
        })
        .await;
    checks.finish()
}

/// Returns a time, `seconds` after a fixed start.
fn at(seconds: i64) -> Timestamp {
    Timestamp::new(1_790_000_000 + seconds, 123_456_789).unwrap_or_default()
}

fn id(text: &str) -> CheckOutcome<TaskId> {
    text.parse().map_err(|_| Flaw::Failed(format!("{text:?}")))
}

fn task(name: &str, depends: &[&str]) -> CheckOutcome<PlannedTask> {
    let task = Task::new(name, format!("Do {name} \u{2014} \"fully\"."));
    let task = task.map_err(|error| Flaw::Failed(error.to_string()))?;
    let mut planned = PlannedTask::new(task.description(name).context("1 < 2\n\u{0}"));
    planned.depends = depends
        .iter()
        .map(|text| id(text))
        .collect::<CheckOutcome<_>>()?;
    Ok(planned)
}

fn plan(tasks: &[(&str, &[&str])]) -> CheckOutcome<MemberPlan> {
    let tasks = tasks.iter().map(|(name, depends)| task(name, depends));
    let tasks = tasks.collect::<CheckOutcome<Vec<_>>>()?;
    let mut plan = MemberPlan::new(MemberId::new("m"), tasks);
    plan.roadmap = Some("docs/ROADMAP.md".into());
    Ok(plan)
}

async fn update(
    store: &dyn StateStore,
    task: &str,
    update: &TaskUpdate,
    second: i64,
) -> CheckOutcome {
    let id = id(task)?;
    good(store.update_task_status(&id, update, at(second)).await)
}

fn status_of(tasks: &[StoredTask]) -> Vec<(&str, TaskStatus)> {
    let tasks = tasks.iter();
    tasks
        .map(|task| (task.task.id.as_str(), task.status))
        .collect()
}

fn good<T>(done: Result<T, StateError>) -> CheckOutcome<T> {
    done.map_err(|error| Flaw::Failed(format!("the store returned an error: {error}")))
}

fn unknown(done: Result<(), StateError>) -> CheckOutcome {
    match done {
        Err(StateError::Unknown(_)) => Ok(()),
        other => failed(format!("an unknown task: {other:?}")),
    }
}

fn same<T: Debug + PartialEq>(what: &str, found: &T, expected: &T) -> CheckOutcome {
    if found == expected {
        Ok(())
    } else {
        failed(format!("{what}: {found:?} instead of {expected:?}"))
    }
}

fn failed<T>(what: impl Into<String>) -> CheckOutcome<T> {
    Err(Flaw::Failed(what.into()))
}
