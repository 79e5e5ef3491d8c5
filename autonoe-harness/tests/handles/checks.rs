//! Checks of the handle of a member.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::{RunEnding, RunOutcome};
use autonoe_harness::MemberHandle;
use autonoe_harness::folder::{MemberStatus, MemberView};
use autonoe_harness::handle::HandleError;
use autonoe_testkit::conformance::{CheckOutcome, Flaw};
use serde_json::{Value, json};

use crate::handles::job::{alert, halfway, spent, working_dir};

type Handle = Arc<MemberHandle>;

/// A check: its name, the behaviour of the member, and the expected result.
pub(crate) type Check = (
    &'static str,
    Value,
    fn(Handle) -> Pin<Box<dyn Future<Output = CheckOutcome> + Send>>,
);

/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Enough time for many steps of work.
const A_WHILE: Duration = Duration::from_millis(300);

/// Maximum number of polls until a paused run makes no more progress.
const POLLS: u32 = 20;

pub(crate) fn all() -> Vec<Check> {
    let hold = json!({"does": "hold"});
    let give = json!({"does": "give", "value": "an answer"});
    vec![
        ("a success has its result", give.clone(), |it| {
            Box::pin(success(it))
        }),
        (
            "a failure is reported as it is",
            json!({"does": "fail"}),
            |it| Box::pin(failure(it)),
        ),
        (
            "a panic is a failure with its spending",
            json!({"does": "panic"}),
            |it| Box::pin(panic(it)),
        ),
        ("how far it is shows", hold.clone(), |it| {
            Box::pin(progress(it))
        }),
        (
            "instructions reach it in order, each once",
            json!({"does": "collect", "count": 20}),
            |it| Box::pin(instructions(it)),
        ),
        (
            "a pause holds it until it is resumed",
            json!({"does": "count"}),
            |it| Box::pin(pausing(it)),
        ),
        (
            "pauses and instructions come in their order",
            json!({"does": "collect", "count": 3}),
            |it| Box::pin(in_order(it)),
        ),
        ("a stop ends it, and says why", hold.clone(), |it| {
            Box::pin(stopping(it))
        }),
        ("the first reason to stop stands", hold.clone(), |it| {
            Box::pin(stopping_twice(it))
        }),
        (
            "a kill ends a run that ignores a stop, with its spending",
            json!({"does": "stubborn"}),
            |it| Box::pin(killing(it)),
        ),
        ("a kill lets it end by itself first", hold, |it| {
            Box::pin(killing_gently(it))
        }),
        (
            "what has ended takes nothing and stays as it is",
            give.clone(),
            |it| Box::pin(ended(it)),
        ),
        ("its log has the last lines", give, |it| Box::pin(logs(it))),
        (
            "a hundred log lines are returned",
            json!({"does": "collect", "count": 150}),
            |it| Box::pin(default_logs(it)),
        ),
        (
            "its alerts are those that were raised",
            json!({"does": "alert"}),
            |it| Box::pin(alerts(it)),
        ),
        (
            "it says where its agent works",
            json!({"does": "hold"}),
            |it| Box::pin(has_working_and_state_dirs(it)),
        ),
    ]
}

fn flaw(error: &HandleError) -> Flaw {
    Flaw::Failed(format!("it answered: {error}"))
}

async fn end(it: &Handle) -> CheckOutcome<RunOutcome> {
    let outcome = it.wait().await.map_err(|error| flaw(&error))?;
    let view = it.refresh().await.map_err(|error| flaw(&error))?;
    if view.outcome.as_ref() != Some(&outcome) || !view.status.is_final() || view != it.view() {
        return Err(format!("the outcome is {outcome:?}, and the view is {view:?}").into());
    }
    Ok(outcome)
}

async fn until(it: &Handle, is_so: impl Fn(&MemberView) -> bool) -> CheckOutcome {
    loop {
        let view = it.refresh().await.map_err(|error| flaw(&error))?;
        if is_so(&view) {
            return Ok(());
        }
        if view.outcome.is_some() {
            return Err(format!("it has ended: {view:?}").into());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn ensure(is_so: bool, otherwise: impl FnOnce() -> String) -> CheckOutcome {
    if is_so {
        Ok(())
    } else {
        Err(Flaw::Failed(otherwise()))
    }
}

async fn success(it: Handle) -> CheckOutcome {
    let outcome = end(&it).await?;

    let expected = RunOutcome::succeeded(json!("an answer"));
    ensure(outcome == expected, || {
        format!("the outcome is {outcome:?}")
    })?;
    let status = it.view().status;
    ensure(status == MemberStatus::Completed, || {
        format!("it is {status:?}")
    })?;
    let result = it.view().result();
    let is_reported = result.as_ref().is_some_and(|result| {
        result.success && result.output == "an answer" && result.id == *it.id()
    });
    ensure(is_reported && it.view().error.is_none(), || {
        format!("its result is {result:?}")
    })
}

async fn failure(it: Handle) -> CheckOutcome {
    let outcome = end(&it).await?;

    let RunEnding::Failed { failure } = &outcome.ending else {
        return Err(format!("the outcome is {outcome:?}").into());
    };
    ensure(failure.code == "no_luck", || {
        format!("the failure is {failure:?}")
    })?;
    let (status, error) = (it.view().status, it.view().error);
    let is_reported =
        status == MemberStatus::Failed && error.as_deref() == Some("it was not to be");
    ensure(is_reported, || format!("it is {status:?} by {error:?}"))?;
    let result = it.view().result();
    ensure(result.is_some_and(|result| !result.success), || {
        "its result is a success".to_owned()
    })
}

async fn panic(it: Handle) -> CheckOutcome {
    let outcome = end(&it).await?;

    ensure(matches!(outcome.ending, RunEnding::Failed { .. }), || {
        format!("the outcome is {outcome:?}")
    })?;
    has_unknown_cost_part(&outcome)
}

/// Checks the spending of an interrupted run: what it reported, and that it may be more.
fn has_unknown_cost_part(outcome: &RunOutcome) -> CheckOutcome {
    let mut expected = spent();
    expected.cost.unknown_parts = 1;
    ensure(outcome.spent == expected, || {
        format!("the spending is {:?}", outcome.spent)
    })
}

async fn progress(it: Handle) -> CheckOutcome {
    until(&it, |view| view.progress == halfway()).await?;

    let seen = (
        it.view().status,
        it.view().progress.task,
        it.view().progress.iteration,
    );
    let expected = (MemberStatus::Running, Some("half of it".to_owned()), 2);
    ensure(seen == expected, || format!("seen is {seen:?}"))?;
    ensure(
        it.view().progress.progress > 0.4 && it.view().pid.is_some(),
        || format!("seen is {:?}", it.view()),
    )?;
    it.stop("seen enough").await.map_err(|error| flaw(&error))?;
    end(&it).await.map(|_| ())
}

async fn instructions(it: Handle) -> CheckOutcome {
    let lines: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
    for (line, number) in lines.iter().zip(1..) {
        let sent = it.send_instruction(line).await;
        let sent = sent.map_err(|error| flaw(&error))?;
        ensure(sent == number, || format!("{number} was numbered {sent}"))?;
    }

    let outcome = end(&it).await?;

    ensure(outcome.output == json!(lines), || {
        format!("it received {}", outcome.output)
    })
}

async fn pausing(it: Handle) -> CheckOutcome {
    until(&it, |view| view.progress.iteration > halfway().iteration).await?;
    it.pause().await.map_err(|error| flaw(&error))?;
    until(&it, |view| view.status == MemberStatus::Paused).await?;
    // A step may be in progress, and a slow machine needs longer to show it.
    let mut before = it.refresh().await.map_err(|error| flaw(&error))?;
    for _ in 0..POLLS {
        tokio::time::sleep(A_WHILE).await;
        let now = it.refresh().await.map_err(|error| flaw(&error))?;
        let is_still = now.progress == before.progress;
        before = now;
        if is_still {
            break;
        }
    }
    tokio::time::sleep(A_WHILE).await;
    let after = it.refresh().await.map_err(|error| flaw(&error))?;
    ensure(before.progress == after.progress, || {
        format!(
            "it works while it is paused: {:?}, {:?}",
            before.progress, after.progress
        )
    })?;
    it.resume().await.map_err(|error| flaw(&error))?;
    until(&it, |view| {
        view.progress.iteration > after.progress.iteration
    })
    .await?;

    it.stop("seen enough").await.map_err(|error| flaw(&error))?;

    end(&it).await.map(|_| ())
}

async fn in_order(it: Handle) -> CheckOutcome {
    it.pause().await.map_err(|error| flaw(&error))?;
    until(&it, |view| view.status == MemberStatus::Paused).await?;
    it.resume().await.map_err(|error| flaw(&error))?;
    until(&it, |view| view.status == MemberStatus::Running).await?;
    let sent = it.send_instruction("go on").await;
    sent.map_err(|error| flaw(&error))?;

    let outcome = end(&it).await?;

    let expected = json!(["(pause)", "(resume)", "go on"]);
    ensure(outcome.output == expected, || {
        format!("it received {}", outcome.output)
    })
}

async fn stopping(it: Handle) -> CheckOutcome {
    it.stop("enough").await.map_err(|error| flaw(&error))?;

    let outcome = end(&it).await?;

    is_cancelled(&outcome, "enough")?;
    let status = it.view().status;
    ensure(status == MemberStatus::Stopped, || {
        format!("it is {status:?}")
    })
}

async fn stopping_twice(it: Handle) -> CheckOutcome {
    it.stop("enough").await.map_err(|error| flaw(&error))?;
    it.stop("I mean it").await.map_err(|error| flaw(&error))?;

    let outcome = end(&it).await?;

    is_cancelled(&outcome, "enough")
}

async fn killing(it: Handle) -> CheckOutcome {
    until(&it, |view| view.progress.iteration > halfway().iteration).await?;

    let killed = it.kill(Duration::from_millis(500)).await;

    let killed = killed.map_err(|error| flaw(&error))?;
    let outcome = end(&it).await?;
    ensure(outcome == killed, || format!("{killed:?} and {outcome:?}"))?;
    ensure(it.view().pid.is_none(), || {
        "it still has a process".to_owned()
    })?;
    is_cancelled(&outcome, "killed")?;
    has_unknown_cost_part(&outcome)?;
    // A process that is still alive would report progress.
    let before = it.refresh().await.map_err(|error| flaw(&error))?;
    tokio::time::sleep(A_WHILE).await;
    let after = it.refresh().await.map_err(|error| flaw(&error))?;
    ensure(before == after, || {
        format!("it lives on: {:?}, {:?}", before.progress, after.progress)
    })
}

async fn killing_gently(it: Handle) -> CheckOutcome {
    until(&it, |view| view.progress == halfway()).await?;

    let killed = it.kill(Duration::from_secs(60)).await;

    let killed = killed.map_err(|error| flaw(&error))?;
    is_cancelled(&killed, "killed")
}

async fn ended(it: Handle) -> CheckOutcome {
    let before = end(&it).await?;

    for (request, answer) in [
        ("an instruction", it.send_instruction("late").await.err()),
        ("a pause", it.pause().await.err()),
        ("a resume", it.resume().await.err()),
    ] {
        ensure(matches!(answer, Some(HandleError::Ended(_))), || {
            format!("{request} is answered by {answer:?}")
        })?;
    }
    it.stop("late").await.map_err(|error| flaw(&error))?;
    let killed = it.kill(Duration::from_millis(10)).await;
    let killed = killed.map_err(|error| flaw(&error))?;
    let after = end(&it).await?;
    ensure(before == after && after == killed, || {
        format!("{before:?} has become {after:?}")
    })
}

async fn logs(it: Handle) -> CheckOutcome {
    end(&it).await?;

    let all = it.logs(100).await.map_err(|error| flaw(&error))?;
    let last = it.logs(1).await.map_err(|error| flaw(&error))?;
    let none = it.logs(0).await.map_err(|error| flaw(&error))?;
    ensure(
        all.len() > 1 && all[all.len() - 1..] == last[..] && none.is_empty(),
        || format!("{all:?}, the last of it {last:?}, and none {none:?}"),
    )?;
    let alerts = it.alerts().await.map_err(|error| flaw(&error))?;
    ensure(alerts.is_empty(), || format!("it has alerts: {alerts:?}"))
}

async fn default_logs(it: Handle) -> CheckOutcome {
    for number in 0..150 {
        let sent = it.send_instruction(&format!("line {number}")).await;
        sent.map_err(|error| flaw(&error))?;
    }
    end(&it).await?;

    let all = it.logs(usize::MAX).await.map_err(|error| flaw(&error))?;
    let last = it
        .logs(MemberHandle::LOG_LINES)
        .await
        .map_err(|error| flaw(&error))?;
    ensure(
        all.len() > 100 && all[all.len() - 100..] == last[..],
        || format!("of {} lines it returns {}", all.len(), last.len()),
    )
}

async fn alerts(it: Handle) -> CheckOutcome {
    end(&it).await?;

    let alerts = it.alerts().await.map_err(|error| flaw(&error))?;
    ensure(alerts == [alert(it.id().clone())], || {
        format!("its alerts are {alerts:?}")
    })
}

async fn has_working_and_state_dirs(it: Handle) -> CheckOutcome {
    until(&it, |view| view.progress == halfway()).await?;

    let (works, state) = (it.view().progress.working_dir, it.folder().path());
    ensure(works == Some(working_dir()), || {
        format!("it works in {works:?}")
    })?;
    ensure(Some(state) != works.as_deref(), || {
        format!("its state is where it works: {state:?}")
    })?;
    it.stop("seen enough").await.map_err(|error| flaw(&error))?;
    end(&it).await.map(|_| ())
}

fn is_cancelled(outcome: &RunOutcome, expected: &str) -> CheckOutcome {
    let RunEnding::Cancelled { reason } = &outcome.ending else {
        return Err(format!("the outcome is {outcome:?}").into());
    };
    ensure(reason == expected, || format!("the reason is {reason:?}"))
}
