//! Tests of waiting for quotas and for failures that pass.

use std::time::Duration;

use autonoe_core::engine::RunOutcome;
use autonoe_harness::Task;
use autonoe_harness::recovery::Ladder;
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::work::{Isolation, WorkEvent, WorkOrder};

use crate::work::crashing_process::{CrashingRun, Kill, Turn};

fn order() -> WorkOrder {
    let task = Task::new("T-1", "Do it.").expect("an id");
    WorkOrder::new([task], Isolation::Shared)
}

fn result(outcome: &RunOutcome) -> MemberReport {
    serde_json::from_value(outcome.output.clone()).expect("a result")
}

fn waits(lives: &CrashingRun) -> usize {
    let waited = |event: &&WorkEvent| matches!(event, WorkEvent::Waiting { .. });
    lives.events().iter().filter(waited).count()
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_passes_uses_no_iterations() {
    for failing_turn in [Turn::NoQuotaForAWhile, Turn::Broken] {
        let mut order = order();
        order.max_iterations = 1;
        let turns = std::iter::repeat_n(failing_turn.clone(), 6);
        let turns = turns.chain([Turn::Does("One.")]).collect();
        let lives = CrashingRun::new(order, [("T-1", turns)]);

        let outcome = lives.serve(Kill::Never).await.expect("an outcome");

        assert!(outcome.is_success(), "{failing_turn:?}: {outcome:?}");
        assert_eq!((lives.started_turns(), waits(&lives)), (7, 6));
        // Each backoff is twice as long as the previous one, starting at 5 seconds.
        let pauses = Duration::from_secs(5 * 63);
        let turns = Duration::from_secs(7 * 60);
        assert_eq!(result(&outcome).duration, pauses + turns);
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_quota_is_no_failure_of_the_agent() {
    let turns = vec![
        Turn::NoQuotaForAWhile,
        Turn::NoQuota(3600),
        Turn::Says("No."),
        Turn::Does("One."),
    ];
    let lives = CrashingRun::new(order(), [("T-1", turns)]);

    let outcome = lives.serve(Kill::Never).await.expect("an outcome");

    assert_eq!(result(&outcome).failures, 1);
    // No number is used twice.
    let numbers = lives.events().into_iter().filter_map(|event| match event {
        WorkEvent::IterationEnded { iteration, .. } => Some(iteration),
        _ => None,
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_does_not_pass_ends_the_task() {
    for failing_turn in [Turn::NoQuotaForAWhile, Turn::Broken] {
        let mut order = order();
        order.ladder = Ladder::none();
        order.max_iterations = 2;
        order.tasks[0].task.timeout_seconds = 1_000_000;
        let lives = CrashingRun::new(order, [("T-1", vec![failing_turn])]);

        let outcome = lives.serve(Kill::Never).await.expect("an outcome");

        assert!(!outcome.is_success());
        assert!(lives.started_turns() <= 2 * 51, "{}", lives.started_turns());
    }
}

#[tokio::test(start_paused = true)]
async fn a_quota_that_is_back_in_a_year_is_not_waited_for() {
    let year = 365 * 24 * 3600;
    let lives = CrashingRun::new(order(), [("T-1", vec![Turn::NoQuota(year)])]);

    let outcome = lives.serve(Kill::Never).await.expect("an outcome");

    let result = result(&outcome);
    assert_eq!(result.duration, Duration::from_secs(60));
    let error = result.error.expect("an error");
    assert!(error.contains("its quota does not reset before"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_a_task_continues_after_a_crash() {
    let mut order = order();
    order.tasks[0].task.timeout_seconds = 150;
    let turns = (0..9).map(|_| Turn::Says("No.")).collect();
    let lives = CrashingRun::new(order, [("T-1", turns)]);

    // Each process runs one turn of a minute, and is lost when it starts another.
    let outcome = lives
        .serve_through([Kill::Before(4), Kill::Before(4)])
        .await;

    let error = result(&outcome).error.expect("an error");
    assert!(error.contains("it timed out after 150 seconds"), "{error}");
    assert_eq!(lives.started_turns(), 3);
}
