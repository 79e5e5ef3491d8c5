//! Tests of how the work of a member ends.

use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::engine::RunEnding;
use autonoe_harness::executor::{Verification, VerificationContext};
use autonoe_harness::recovery::Ladder;
use autonoe_harness::roadmap::PlannedTask;
use autonoe_harness::work::{WorkEvent, WorkOrder};
use autonoe_harness::{Criterion, Task};
use autonoe_testkit::SessionScript;
use serde::{Deserialize, Serialize};

use crate::work::fixture::{Fixture, Turns, does_it, order, task, text_turn};

#[tokio::test(start_paused = true)]
async fn a_task_is_done_when_it_is_verified() {
    let turns = Turns::new([text_turn("I think about it."), does_it()]);
    let fixture = Fixture::new(&turns);

    let (outcome, result) = fixture.run(&order([task("T-1")])).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(result.id.as_str(), "member");
    assert_eq!(result.output, "I have written it.");
    assert_eq!((result.failures, result.progress), (1, 1.0));
    assert_eq!(result.duration, Duration::from_secs(120));
    assert_eq!(outcome.spent.time, Duration::from_secs(120));
    let second = &turns.prompts()[1];
    assert!(second.contains("The last attempt failed"), "{second}");
    let reports = fixture.reports.lock().expect("a lock").clone();
    assert_eq!(reports[0].task.as_deref(), Some("T-1"));
    // A turn is reported when it starts and when it has ended.
    let iterations = reports.iter().map(|report| report.iteration);
    assert_eq!(iterations.take(5).collect::<Vec<_>>(), [0, 1, 1, 2, 2]);
    assert_eq!(reports.last().map(|report| report.progress), Some(1.0));
}

/// Counts tests without running any.
#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    tests: u64,
}

#[typetag::serde(name = "test-counted")]
#[async_trait]
impl Criterion for Counted {
    fn describe(&self) -> String {
        "tests pass".to_owned()
    }

    async fn verify(&self, _: &VerificationContext<'_>) -> Verification {
        Verification::passed_tests("they pass", self.tests)
    }
}

#[tokio::test(start_paused = true)]
async fn the_tests_that_were_counted_last_are_in_the_result() {
    let turns = Turns::new([does_it(), does_it(), does_it()]);
    let fixture = Fixture::new(&turns);
    let counted = |id, tests| {
        let task = Task::new(id, "Have tests.").expect("an id");
        task.success_criteria(Counted { tests })
    };

    let order = order([counted("T-1", 2), counted("T-2", 5), task("T-3")]);
    let (outcome, result) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(result.tests_passed, Some(5));
}

#[tokio::test(start_paused = true)]
async fn lesson_9_prose_is_not_searched_for_success_or_failure() {
    let done = SessionScript::new("turn")
        .performs(|folder| std::fs::write(folder.join("out.txt"), "x").expect("a file"))
        .says("error: failed: Traceback, fatal: no")
        .ends();
    let turns = Turns::new([text_turn("yes. All done. Success!"), done]);
    let fixture = Fixture::new(&turns);

    let (outcome, result) = fixture.run(&order([task("T-1")])).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(result.failures, 1);
}

#[tokio::test(start_paused = true)]
async fn lesson_3_a_task_has_only_its_time() {
    let hangs = || SessionScript::new("turn").says("I begin.").hangs();
    let turns = Turns::new([text_turn("One minute."), hangs()]);
    let fixture = Fixture::new(&turns);
    let order = order([task("T-1").timeout(Duration::from_secs(90))]);

    let (outcome, result) = fixture.run(&order).await;

    assert!(!outcome.is_success());
    assert_eq!(result.duration, Duration::from_secs(90));
    let error = result.error.expect("it failed");
    assert!(error.contains("it timed out after 90 seconds"), "{error}");
    assert_eq!(turns.open_clients(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_task_can_override_the_maximum_number_of_iterations() {
    let turns = Turns::new(["a1", "a2", "a3", "b1"].map(text_turn));
    let fixture = Fixture::new(&turns);
    let mut order = order([task("a"), task("b")]);
    order.max_iterations = 1;
    order.tasks[0].max_iterations = Some(3);
    order.thresholds.stuck_after = 9;

    let (outcome, _) = fixture.run(&order).await;

    assert!(!outcome.is_success(), "{outcome:?}");
    let ended = fixture
        .events()
        .into_iter()
        .filter_map(|event| match event {
            WorkEvent::Ended {
                task, iterations, ..
            } => Some((task.to_string(), iterations)),
            _ => None,
        });
    assert_eq!(
        ended.collect::<Vec<_>>(),
        [("a".to_owned(), 3), ("b".to_owned(), 1)]
    );
}

#[tokio::test(start_paused = true)]
async fn dependents_of_a_failed_task_do_not_start_and_the_others_do() {
    let quick = |id: &str| Task::new(id, "Say it.").expect("an id");
    let planned = |task: Task, depends: &[&str]| PlannedTask {
        depends: depends
            .iter()
            .map(|id| id.parse().expect("an id"))
            .collect(),
        ..PlannedTask::new(task)
    };
    let turns = Turns::new([text_turn("No."), text_turn("free"), text_turn("after")]);
    let fixture = Fixture::new(&turns);
    let mut order = order([]);
    order.tasks = vec![
        planned(quick("after"), &["free", "ticked"]),
        planned(task("fails"), &[]),
        planned(quick("never"), &["fails"]),
        planned(quick("free"), &[]),
        PlannedTask {
            is_done: true,
            ..planned(quick("ticked"), &[])
        },
    ];
    order.max_iterations = 1;

    let (outcome, result) = fixture.run(&order).await;

    assert!(!outcome.is_success());
    assert_eq!(result.progress, 0.6);
    assert_eq!(result.output, "after");
    let error = result.error.expect("it failed");
    assert!(error.contains("the task fails failed"), "{error}");
    assert!(error.contains("they depend on failed: never"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_ends_at_once_with_its_agent() {
    let turns = Turns::new([SessionScript::new("turn").says("I begin.").hangs()]);
    let fixture = Fixture::new(&turns);
    let control = fixture.control.clone();
    let order = order([task("T-1")]);

    let ((outcome, result), ()) = tokio::join!(fixture.run(&order), async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        control.cancel();
    });

    assert!(
        matches!(outcome.ending, RunEnding::Cancelled { .. }),
        "{outcome:?}"
    );
    assert!(!result.success);
    assert_eq!(result.duration, Duration::from_secs(5));
    assert_eq!(turns.open_clients(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_quota_is_no_iteration() {
    let back = "2026-01-01T05:00:00Z".parse().expect("a time");
    let spent = || {
        SessionScript::new("turn")
            .says("Oh.")
            .hits_quota(Some(back))
    };
    let turns = Turns::new([spent(), does_it()]);
    let fixture = Fixture::new(&turns);
    let mut order = order([task("T-1")]);
    order.max_iterations = 1;

    let (outcome, result) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(result.duration, Duration::from_secs(5 * 3600 + 60));
    let waited =
        |event: &WorkEvent| matches!(event, WorkEvent::Waiting { until, .. } if *until == back);
    assert!(fixture.events().iter().any(waited));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_the_backend_interrupted_is_retried() {
    let outcome = SessionOutcome::ExecutionError {
        messages: vec!["it crashed".to_owned()],
    };
    let broken = SessionScript::new("turn").says("I").ends_with(outcome);
    let turns = Turns::new([broken, does_it()]);
    let fixture = Fixture::new(&turns);
    let mut order: WorkOrder = order([task("T-1")]);
    order.ladder = Ladder::none();

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
}
