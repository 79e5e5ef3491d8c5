//! What passes by itself is waited for.

use std::time::Duration;

use autonoe_core::RunOutcome;
use autonoe_harness::{HarnessResult, Isolation, Ladder, Task, WorkEvent, WorkOrder};

use crate::work::lives::{Kill, Lives, Turn};

fn order() -> WorkOrder {
    let task = Task::new("T-1", "Do it.").expect("an id");
    WorkOrder::new([task], Isolation::Shared)
}

fn result(outcome: &RunOutcome) -> HarnessResult {
    serde_json::from_value(outcome.output.clone()).expect("a result")
}

fn waits(lives: &Lives) -> usize {
    let waited = |event: &&WorkEvent| matches!(event, WorkEvent::Waited { .. });
    lives.events().iter().filter(waited).count()
}

#[tokio::test(start_paused = true)]
async fn what_passes_burns_no_iterations() {
    for trouble in [Turn::NoQuotaForAWhile, Turn::Broken] {
        let mut order = order();
        order.max_iterations = 1;
        let turns = std::iter::repeat_n(trouble.clone(), 6);
        let turns = turns.chain([Turn::Does("One.")]).collect();
        let lives = Lives::new(order, [("T-1", turns)]);

        let outcome = lives.serve(Kill::Never).await.expect("an outcome");

        assert!(outcome.is_success(), "{trouble:?}: {outcome:?}");
        assert_eq!((lives.begun(), waits(&lives)), (7, 6));
        // Each pause is twice as long as the one before, from 5 seconds.
        let pauses = Duration::from_secs(5 * 63);
        let turns = Duration::from_secs(7 * 60);
        assert_eq!(result(&outcome).duration, pauses + turns);
    }
}

#[tokio::test(start_paused = true)]
async fn that_there_is_no_quota_is_nobodys_failure() {
    let turns = vec![
        Turn::NoQuotaForAWhile,
        Turn::NoQuota(3600),
        Turn::Says("No."),
        Turn::Does("One."),
    ];
    let lives = Lives::new(order(), [("T-1", turns)]);

    let outcome = lives.serve(Kill::Never).await.expect("an outcome");

    assert_eq!(result(&outcome).failures, 1);
    // No two iterations have one number.
    let numbers = lives.events().into_iter().filter_map(|event| match event {
        WorkEvent::Iterated { iteration, .. } => Some(iteration),
        _ => None,
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_pass_ends_all_the_same() {
    for trouble in [Turn::NoQuotaForAWhile, Turn::Broken] {
        let mut order = order();
        order.ladder = Ladder::none();
        order.max_iterations = 2;
        order.tasks[0].task.timeout_seconds = 1_000_000;
        let lives = Lives::new(order, [("T-1", vec![trouble])]);

        let outcome = lives.serve(Kill::Never).await.expect("an outcome");

        assert!(!outcome.is_success());
        assert!(lives.begun() <= 2 * 51, "{}", lives.begun());
    }
}

#[tokio::test(start_paused = true)]
async fn a_quota_that_is_back_in_a_year_is_not_waited_for() {
    let year = 365 * 24 * 3600;
    let lives = Lives::new(order(), [("T-1", vec![Turn::NoQuota(year)])]);

    let outcome = lives.serve(Kill::Never).await.expect("an outcome");

    let result = result(&outcome);
    assert_eq!(result.duration, Duration::from_secs(60));
    let error = result.error.expect("an error");
    assert!(error.contains("its quota is not back before"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_task_goes_on_after_a_crash() {
    let mut order = order();
    order.tasks[0].task.timeout_seconds = 150;
    let turns = (0..9).map(|_| Turn::Says("No.")).collect();
    let lives = Lives::new(order, [("T-1", turns)]);

    // A life has one turn of a minute, and is lost when it begins another.
    let outcome = lives
        .serve_through([Kill::Before(4), Kill::Before(4)])
        .await;

    let error = result(&outcome).error.expect("an error");
    assert!(error.contains("its 150 seconds were over"), "{error}");
    assert_eq!(lives.begun(), 3);
}
