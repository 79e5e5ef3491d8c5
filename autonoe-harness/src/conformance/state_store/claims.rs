//! Who works on what.

use std::collections::BTreeMap;
use std::sync::Arc;

use autonoe_testkit::conformance::{Checks, Finding};
use tokio::task::JoinSet;

use super::asked::{
    at, begin, claim, claim_nothing, claimant, failed, fenced, good, id, plan, same,
};
use crate::{AttemptEnding, StateError, StateStore, TaskEnd, TaskStatus, TaskUpdate};

pub(super) async fn check(checks: &mut Checks, empty: &impl AsyncFn() -> Arc<dyn StateStore>) {
    checks
        .run(
            "a task is claimed when all that it waits for is completed",
            async {
                let store = empty().await;
                begin(&*store, &[("c", &["a", "b"]), ("a", &[]), ("b", &[])]).await?;
                let a = claim(&*store, "one", 1, "a").await?;
                let b = claim(&*store, "two", 1, "b").await?;
                claim_nothing(&*store, "three", 1).await?;
                good(store.finish(&a, &TaskEnd::completed(""), at(2)).await)?;
                claim_nothing(&*store, "three", 2).await?;
                good(store.finish(&b, &TaskEnd::completed(""), at(3)).await)?;

                claim(&*store, "three", 4, "c").await.map(|_| ())
            },
        )
        .await;
    checks
        .run(
            "what waits for a failure is not claimed and is not complete",
            async {
                let store = empty().await;
                begin(&*store, &[("a", &[]), ("b", &["a"])]).await?;
                let a = claim(&*store, "one", 1, "a").await?;
                good(store.finish(&a, &TaskEnd::failed("no"), at(2)).await)?;
                claim_nothing(&*store, "one", 3).await?;

                let left = good(store.get_incomplete_tasks().await)?;
                let left = left.iter().map(|task| task.task.id.as_str());
                same("what is left", &left.collect::<Vec<_>>(), &vec!["b"])
            },
        )
        .await;
    checks
        .run(
            "many at once claim each task once, with rising epochs",
            many_at_once(empty),
        )
        .await;
    checks
        .run(
            "a task in progress at a crash is taken up again exactly once",
            async {
                let store = empty().await;
                begin(&*store, &[("a", &[])]).await?;
                let lost = claim(&*store, "one", 0, "a").await?;
                let left = good(store.get_incomplete_tasks().await)?;
                same("what is left", &left.len(), &1)?;
                claim_nothing(&*store, "two", 29).await?;

                let taken = claim(&*store, "two", 30, "a").await?;
                claim_nothing(&*store, "three", 31).await?;
                same(
                    "taken over",
                    &(lost.takes_over, taken.takes_over),
                    &(false, true),
                )?;
                same("the attempt", &taken.attempt, &2)?;
                if taken.epoch <= lost.epoch {
                    return failed(format!("its epoch {} is not higher", taken.epoch));
                }
                let attempts = good(store.attempts(&id("a")?).await)?;
                let endings = attempts.iter().map(|attempt| attempt.ending);
                let expected = vec![Some(AttemptEnding::Lost), None];
                same("the attempts", &endings.collect::<Vec<_>>(), &expected)
            },
        )
        .await;
    checks
        .run("who was taken over is fenced off", async {
            let store = empty().await;
            begin(&*store, &[("a", &[])]).await?;
            let lost = claim(&*store, "one", 0, "a").await?;
            let taken = claim(&*store, "two", 40, "a").await?;
            let end = TaskEnd::completed("stale");
            fenced("an end", store.finish(&lost, &end, at(41)).await)?;
            fenced("a sign of life", store.renew(&lost, at(41)).await)?;
            fenced("a return", store.give_back(&lost, at(41)).await)?;
            good(
                store
                    .finish(&taken, &TaskEnd::completed("fresh"), at(42))
                    .await,
            )?;
            fenced("an end", store.finish(&lost, &end, at(43)).await)?;

            let kept = good(store.load_task(&id("a")?).await)?;
            let output = kept.and_then(|task| task.output);
            same("what it gave", &output.as_deref(), &Some("fresh"))
        })
        .await;
    checks
        .run("a sign of life keeps a claim", async {
            let store = empty().await;
            begin(&*store, &[("a", &[])]).await?;
            let kept = claim(&*store, "one", 0, "a").await?;
            good(store.renew(&kept, at(25)).await)?;
            claim_nothing(&*store, "two", 54).await?;
            good(store.finish(&kept, &TaskEnd::completed(""), at(54)).await)
        })
        .await;
    checks
        .run("what ended is never claimed again", async {
            let store = empty().await;
            let tasks = [("a", &[] as &[_]), ("b", &[]), ("c", &[])];
            begin(&*store, &tasks).await?;
            let ends = [
                TaskEnd::completed("yes"),
                TaskEnd::failed("no"),
                TaskEnd::cancelled("why"),
            ];
            let mut claims = Vec::new();
            for ((name, _), end) in tasks.iter().zip(&ends) {
                let claim = claim(&*store, "one", 1, name).await?;
                good(store.finish(&claim, end, at(2)).await)?;
                claims.push(claim);
            }
            claim_nothing(&*store, "one", 3).await?;
            claim_nothing(&*store, "two", 1_000_000).await?;
            good(store.init_harness(&plan(&tasks)?, at(4)).await)?;
            claim_nothing(&*store, "two", 1_000_000).await?;
            same(
                "what is left",
                &good(store.get_incomplete_tasks().await)?,
                &Vec::new(),
            )?;
            for (claim, end) in claims.iter().zip(&ends) {
                good(store.finish(claim, end, at(5)).await)?;
                let other = TaskEnd::completed("something else");
                fenced("another end", store.finish(claim, &other, at(5)).await)?;
            }
            Ok(())
        })
        .await;
    checks
        .run("what is given back is claimed anew", async {
            let store = empty().await;
            begin(&*store, &[("a", &[])]).await?;
            let first = claim(&*store, "one", 0, "a").await?;
            good(store.give_back(&first, at(1)).await)?;
            fenced(
                "an end",
                store.finish(&first, &TaskEnd::completed(""), at(1)).await,
            )?;
            let second = claim(&*store, "two", 1, "a").await?;
            same("taken over", &second.takes_over, &false)?;
            let attempts = good(store.attempts(&id("a")?).await)?;
            let first = attempts
                .first()
                .map(|attempt| (attempt.ending, attempt.ended_at));
            let expected = (Some(AttemptEnding::GivenBack), Some(at(1)));
            same("the first attempt", &first, &Some(expected))
        })
        .await;
    checks
        .run(
            "all of an owner that is gone is free at once, and nothing else",
            async {
                let store = empty().await;
                begin(&*store, &[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])]).await?;
                let done = claim(&*store, "gone", 0, "a").await?;
                good(store.finish(&done, &TaskEnd::completed(""), at(0)).await)?;
                let lost = claim(&*store, "gone", 0, "b").await?;
                claim(&*store, "alive", 0, "c").await?;
                let released = good(store.release_owner("gone", at(1)).await)?;
                same("what is free", &released, &vec![id("b")?])?;
                same(
                    "again",
                    &good(store.release_owner("gone", at(1)).await)?,
                    &Vec::new(),
                )?;

                fenced(
                    "an end",
                    store.finish(&lost, &TaskEnd::completed(""), at(2)).await,
                )?;
                claim(&*store, "other", 2, "b").await?;
                claim(&*store, "other", 2, "d").await?;
                claim_nothing(&*store, "other", 2).await
            },
        )
        .await;
    checks
        .run(
            "an update of the status ends a claim, and a task that waits again can be claimed",
            async {
                let store = empty().await;
                begin(&*store, &[("a", &[])]).await?;
                let a = id("a")?;
                let mut owner = claim(&*store, "one", 0, "a").await?;
                let updates = [
                    TaskUpdate::new(TaskStatus::InProgress).output("half"),
                    TaskUpdate::new(TaskStatus::Pending),
                    TaskUpdate::new(TaskStatus::Failed).error("no"),
                    TaskUpdate::new(TaskStatus::Completed),
                ];
                for (number, update) in (1..).zip(&updates) {
                    let now = at(10 * number);
                    good(store.update_task_status(&a, update, now).await)?;
                    let end = TaskEnd::completed("yes");
                    fenced("a renewal", store.renew(&owner, now).await)?;
                    fenced("an end", store.finish(&owner, &end, now).await)?;
                    fenced("what is given back", store.give_back(&owner, now).await)?;
                    let kept = good(store.load_task(&a).await)?;
                    same(
                        "the status",
                        &kept.map(|task| task.status),
                        &Some(update.status),
                    )?;
                    if update.status.is_ended() {
                        claim_nothing(&*store, "two", 10 * number).await?;
                        let again = TaskUpdate::new(TaskStatus::Pending);
                        good(store.update_task_status(&a, &again, now).await)?;
                    }
                    owner = claim(&*store, "one", 10 * number + 1, "a").await?;
                }
                let endings = good(store.attempts(&a).await)?.into_iter();
                let endings: Vec<_> = endings.map(|attempt| attempt.ending).collect();
                let expected = [
                    Some(AttemptEnding::GivenBack),
                    Some(AttemptEnding::GivenBack),
                    Some(AttemptEnding::Failed),
                    Some(AttemptEnding::Completed),
                    None,
                ];
                same("how attempts ended", &endings, &expected.to_vec())
            },
        )
        .await;
    checks
        .run(
            "an update of the status does not revive a claim that has ended",
            async {
                let store = empty().await;
                begin(&*store, &[("a", &[])]).await?;
                let a = id("a")?;
                let ended = claim(&*store, "one", 0, "a").await?;
                let end = TaskEnd::failed("no");
                good(store.finish(&ended, &end, at(1)).await)?;
                let update = TaskUpdate::new(TaskStatus::InProgress);
                good(store.update_task_status(&a, &update, at(2)).await)?;

                fenced("a renewal", store.renew(&ended, at(3)).await)?;
                let end = TaskEnd::completed("yes");
                fenced("an end", store.finish(&ended, &end, at(3)).await)?;
                claim(&*store, "two", 100, "a").await?;
                let endings = good(store.attempts(&a).await)?.into_iter();
                let endings: Vec<_> = endings.map(|attempt| attempt.ending).collect();
                let expected = vec![Some(AttemptEnding::Failed), None];
                same("how attempts ended", &endings, &expected)
            },
        )
        .await;
}

/// Twenty tasks, and eight who claim and finish them until there are no more.
async fn many_at_once(empty: &impl AsyncFn() -> Arc<dyn StateStore>) -> Finding {
    let store = empty().await;
    let names: Vec<String> = (0..20).map(|number| format!("t{number:02}")).collect();
    let tasks: Vec<(&str, &[&str])> = names.iter().map(|name| (name.as_str(), &[] as _)).collect();
    begin(&*store, &tasks).await?;
    let mut workers = JoinSet::new();
    for worker in 0..8 {
        let store = Arc::clone(&store);
        workers.spawn(async move {
            let mut done = Vec::new();
            let who = claimant(&format!("w{worker}"));
            while let Some(claim) = store.claim_next(&who, at(0)).await? {
                let end = TaskEnd::completed(&who.owner);
                store.finish(&claim, &end, at(0)).await?;
                done.push((claim.epoch, claim.id().to_string()));
            }
            Ok::<_, StateError>(done)
        });
    }
    let mut by_epoch = BTreeMap::new();
    while let Some(done) = workers.join_next().await {
        let Ok(done) = done else {
            return failed("a worker broke");
        };
        for (epoch, name) in good(done)? {
            if let Some(other) = by_epoch.insert(epoch, name) {
                return failed(format!("the epoch {epoch} is that of {other} too"));
            }
        }
    }
    let mut done: Vec<_> = by_epoch.into_values().collect();
    done.sort();
    same("what was done", &done, &names)?;
    for task in good(store.tasks().await)? {
        same("how it stands", &task.status, &TaskStatus::Completed)?;
        same("how often it was tried", &task.attempts, &1)?;
    }
    Ok(())
}
