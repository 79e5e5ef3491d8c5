//! What is to be done.

use std::sync::Arc;

use autonoe_testkit::conformance::Checks;

use super::asked::{at, begin, claim, failed, good, id, plan, same, task};
use crate::{HarnessId, StateError, StateStore, TaskEnd, TaskStatus, TaskUpdate};

pub(super) async fn check(checks: &mut Checks, empty: &impl AsyncFn() -> Arc<dyn StateStore>) {
    checks
        .run("a plan is kept as it was told, in its order", async {
            let store = empty().await;
            same("whose it is", &good(store.harness().await)?, &None)?;
            let plan = plan(&[("z", &[]), ("a", &["z"]), ("m", &["a", "z"])])?;
            good(store.init_harness(&plan, at(0)).await)?;

            let Some(harness) = good(store.harness().await)? else {
                return failed("it is nobody's");
            };
            same("the roadmap", &harness.roadmap, &plan.roadmap)?;
            same("the time", &harness.created_at, &at(0))?;
            let tasks = good(store.tasks().await)?;
            same("how many", &tasks.len(), &plan.tasks.len())?;
            for (found, planned) in tasks.iter().zip(&plan.tasks) {
                same("the task", &found.task, &planned.task)?;
                same("its dependencies", &found.depends, &planned.depends)?;
                same("its status", &found.status, &TaskStatus::Pending)?;
                let loaded = good(store.load_task(&planned.task.id).await)?;
                same("loaded alone", &loaded.as_ref(), &Some(found))?;
            }
            same(
                "of no task",
                &good(store.load_task(&id("x")?).await)?,
                &None,
            )
        })
        .await;
    checks
        .run(
            "a plan that cannot come to its end is refused whole",
            async {
                let store = empty().await;
                let unending: [&[(&str, &[&str])]; 3] = [
                    &[("a", &["b"]), ("b", &["a"])],
                    &[("a", &[]), ("b", &["nobody"])],
                    &[("a", &[]), ("a", &[])],
                ];
                for tasks in unending {
                    let told = store.init_harness(&plan(tasks)?, at(0)).await;
                    if !matches!(told, Err(StateError::Invalid(_))) {
                        return failed(format!("{tasks:?}: {told:?}"));
                    }
                    same("what is kept", &good(store.tasks().await)?, &Vec::new())?;
                }
                Ok(())
            },
        )
        .await;
    checks
        .run(
            "a plan again brings what is new and keeps what was begun",
            async {
                let store = empty().await;
                begin(&*store, &[("a", &[]), ("b", &[]), ("c", &[])]).await?;
                let first = claim(&*store, "one", 1, "a").await?;
                good(
                    store
                        .finish(&first, &TaskEnd::completed("yes"), at(2))
                        .await,
                )?;
                let second = claim(&*store, "one", 3, "b").await?;
                let mut again = plan(&[("new", &[]), ("a", &[]), ("b", &[]), ("c", &["new"])])?;
                again.tasks[1].task.goal = "Something else.".to_owned();
                again.tasks[3].task.goal = "Something else.".to_owned();
                good(store.init_harness(&again, at(4)).await)?;
                good(store.init_harness(&again, at(5)).await)?;

                let tasks = good(store.tasks().await)?;
                let stand = tasks
                    .iter()
                    .map(|task| (task.task.id.as_str(), task.status));
                let expected = vec![
                    ("new", TaskStatus::Pending),
                    ("a", TaskStatus::Completed),
                    ("b", TaskStatus::InProgress),
                    ("c", TaskStatus::Pending),
                ];
                same("how they stand", &stand.collect::<Vec<_>>(), &expected)?;
                same("what was done", &tasks[1].task, &first.task.task)?;
                same("what it gave", &tasks[1].output.as_deref(), &Some("yes"))?;
                same("what was not begun", &tasks[3].task, &again.tasks[3].task)?;
                same(
                    "what it waits for",
                    &tasks[3].depends,
                    &again.tasks[3].depends,
                )?;
                good(store.finish(&second, &TaskEnd::completed(""), at(6)).await)
            },
        )
        .await;
    checks
        .run("what is ticked is completed", async {
            let store = empty().await;
            let mut ticked = plan(&[("a", &[]), ("b", &["a"])])?;
            ticked.tasks[0].is_done = true;
            good(store.init_harness(&ticked, at(0)).await)?;

            claim(&*store, "one", 1, "b").await.map(|_| ())
        })
        .await;
    checks
        .run("the state of one harness is not that of another", async {
            let store = empty().await;
            begin(&*store, &[("a", &[])]).await?;
            let mut other = plan(&[("b", &[])])?;
            other.harness = HarnessId::new("other");
            match store.init_harness(&other, at(0)).await {
                Err(StateError::Conflict(_)) => {
                    same("how many", &good(store.tasks().await)?.len(), &1)
                }
                told => failed(format!("{told:?}")),
            }
        })
        .await;
    checks
        .run(
            "a task is saved behind the others, and keeps what became of it",
            async {
                let store = empty().await;
                good(store.save_task(&task("b", &[])?, at(0)).await)?;
                good(store.save_task(&task("a", &["b"])?, at(0)).await)?;
                let mut changed = task("b", &[])?;
                changed.task.goal = "Something else.".to_owned();
                good(store.save_task(&changed, at(1)).await)?;
                let circle = store.save_task(&task("b", &["a"])?, at(1)).await;
                if !matches!(circle, Err(StateError::Invalid(_))) {
                    return failed(format!("a circle: {circle:?}"));
                }

                let claimed = claim(&*store, "one", 2, "b").await?;
                same("the task", &claimed.task.task, &changed.task)?;
                let mut late = task("b", &[])?;
                late.task.goal = "Something else again.".to_owned();
                good(store.save_task(&late, at(3)).await)?;
                let under_way = good(store.load_task(&id("b")?).await)?;
                let under_way =
                    under_way.map(|task| (task.task, task.status, task.owner, task.epoch));
                let owner = Some("one".to_owned());
                let expected = (
                    late.task.clone(),
                    TaskStatus::InProgress,
                    owner,
                    claimed.epoch,
                );
                same("saved under way", &under_way, &Some(expected))?;
                // The claim is still valid.
                good(store.finish(&claimed, &TaskEnd::failed("no"), at(4)).await)?;
                good(store.save_task(&changed, at(5)).await)?;
                let ended = good(store.load_task(&id("b")?).await)?;
                let ended = ended.map(|task| (task.task, task.status, task.error, task.attempts));
                let error = Some("no".to_owned());
                let expected = (changed.task, TaskStatus::Failed, error, 1);
                same("saved after its end", &ended, &Some(expected))
            },
        )
        .await;
    checks
        .run("the status of a task can be set, whatever it is", async {
            let store = empty().await;
            begin(&*store, &[("a", &[])]).await?;
            let a = id("a")?;
            for (number, status) in (1..).zip([
                TaskStatus::Cancelled,
                TaskStatus::Completed,
                TaskStatus::Pending,
                TaskStatus::InProgress,
                TaskStatus::Failed,
                TaskStatus::Pending,
            ]) {
                let update = TaskUpdate::new(status)
                    .output("half")
                    .error(format!("{number}"));
                good(store.update_task_status(&a, &update, at(number)).await)?;
                // The same again changes nothing, not even the time.
                good(store.update_task_status(&a, &update, at(number + 1)).await)?;
                let Some(kept) = good(store.load_task(&a).await)? else {
                    return failed("it is gone");
                };
                same("the status", &kept.status, &status)?;
                same("its output", &kept.output, &update.output)?;
                same("its error", &kept.error, &update.error)?;
                same("the time", &kept.updated_at, &at(number))?;
            }
            let done = TaskUpdate::new(TaskStatus::Completed);
            match store.update_task_status(&id("x")?, &done, at(9)).await {
                Err(StateError::Unknown(_)) => Ok(()),
                unknown => failed(format!("a task that is not there: {unknown:?}")),
            }
        })
        .await;
}
