//! What is to be done.

use std::sync::Arc;

use autonoe_testkit::conformance::Checks;

use super::asked::{at, begin, claim, failed, good, id, plan, same, task};
use crate::{HarnessId, StateError, StateStore, TaskEnd, TaskStatus};

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
            "a task is saved behind the others, and only until it is begun",
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
                let late = store.save_task(&changed, at(3)).await;
                if !matches!(late, Err(StateError::InProgress(_))) {
                    return failed(format!("saved while it is worked on: {late:?}"));
                }
                good(store.finish(&claimed, &TaskEnd::failed("no"), at(4)).await)?;
                match store.save_task(&changed, at(5)).await {
                    Err(StateError::Ended(_)) => Ok(()),
                    late => failed(format!("saved after its end: {late:?}")),
                }
            },
        )
        .await;
    checks
        .run("what nobody works on can be ended, once", async {
            let store = empty().await;
            begin(&*store, &[("a", &[]), ("b", &[])]).await?;
            let end = TaskEnd::cancelled("not needed").with_output("half");
            good(store.update_task_status(&id("a")?, &end, at(1)).await)?;
            good(store.update_task_status(&id("a")?, &end, at(2)).await)?;
            let other = TaskEnd::completed("half");
            let again = store.update_task_status(&id("a")?, &other, at(3)).await;
            if !matches!(again, Err(StateError::Ended(_))) {
                return failed(format!("it ends twice: {again:?}"));
            }
            let unknown = store.update_task_status(&id("x")?, &other, at(3)).await;
            if !matches!(unknown, Err(StateError::Unknown(_))) {
                return failed(format!("a task that is not there: {unknown:?}"));
            }
            claim(&*store, "one", 4, "b").await?;
            let taken = store.update_task_status(&id("b")?, &other, at(5)).await;
            if !matches!(taken, Err(StateError::InProgress(_))) {
                return failed(format!("somebody works on it: {taken:?}"));
            }
            let kept = good(store.load_task(&id("a")?).await)?;
            let kept = kept.map(|task| (task.status, task.output, task.error));
            let expected = (TaskStatus::Cancelled, end.output, end.error);
            same("how it ended", &kept, &Some(expected))
        })
        .await;
}
