//! Tests of resuming a loop from the events that were recorded before its process was lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use autonoe_core::engine::{RunEnding, RunOutcome};
use autonoe_core::{Budget, CostUsd};
use autonoe_harness::budget::Spending;
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::work::{
    Isolation, RecoveredState, WorkEvent, WorkJournal, WorkObserver, WorkOrder,
};
use autonoe_harness::{Allowance, Task, TaskId};
use proptest::prelude::*;

use crate::work::crashing_process::{CrashingRun, Kill, Turn, Written};

fn order<const N: usize>(tasks: [&str; N]) -> WorkOrder {
    let tasks = tasks.map(|id| Task::new(id, "Do it.").expect("an id"));
    WorkOrder::new(tasks, Isolation::Shared)
}

/// Two tasks: one succeeds at once, the other gets stuck on the way.
fn lives() -> CrashingRun {
    use Turn::{Does, Says};
    let same = || Says("Same.");
    let stuck = vec![same(), same(), same(), same(), Says("Oh."), Does("Two.")];
    let turns = [("T-1", vec![Does("One.")]), ("T-2", stuck)];
    CrashingRun::new(order(["T-1", "T-2"]), turns).message("Use tabs.")
}

fn result(outcome: &RunOutcome) -> MemberReport {
    serde_json::from_value(outcome.output.clone()).expect("a result")
}

/// Invariants, however often the process was lost.
fn check(lives: &CrashingRun, outcome: &RunOutcome) -> Result<(), TestCaseError> {
    let events = lives.events();
    let written = Written::from_events(&events);
    let result = result(outcome);
    prop_assert!(outcome.is_success(), "{:?}", outcome);
    prop_assert_eq!(&result.output, "done: Two.");
    prop_assert_eq!(result.progress, 1.0);
    // Finished work is not repeated, and each task is done once.
    let once = ["T-1", "T-2"].map(|id| (id.parse::<TaskId>().expect("an id"), 1));
    prop_assert_eq!(&written.verified, &BTreeMap::from(once.clone()));
    prop_assert_eq!(&written.ended, &BTreeMap::from(once));
    // Iterations are numbered consecutively: no number is used twice.
    for numbers in written.iterations.values() {
        let expected: Vec<u32> = (1..).take(numbers.len()).collect();
        prop_assert_eq!(numbers, &expected);
    }
    // All spending is reported, and unknown spending is marked as such.
    let mut spent = written.spent;
    spent.cost.unknown_parts = u32::try_from(written.cut_off).expect("a few");
    prop_assert_eq!(outcome.spent, spent);
    prop_assert_eq!(result.cost, spent.cost);
    let all: RecoveredState = events.iter().collect();
    prop_assert_eq!(all.spending().spent, spent);
    prop_assert_eq!(result.failures as usize, written.iterated - 2);
    // A recorded message is not delivered again, and no step of the ladder is taken twice.
    prop_assert_eq!(written.delivered, 1);
    let steps: BTreeSet<_> = written.steps.iter().collect();
    prop_assert_eq!(steps.len(), written.steps.len(), "{:?}", written.steps);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_is_killed_at_any_line_resumes_there() {
    let whole = lives();
    let outcome = whole.serve_through([]).await;
    check(&whole, &outcome).expect("nothing is lost when nothing is killed");
    let lines = whole.events().len();

    for number in 0..lines {
        for kill in [Kill::Before(number), Kill::After(number)] {
            let lives = lives();

            let outcome = lives.serve_through([kill]).await;

            check(&lives, &outcome).unwrap_or_else(|error| panic!("{kill:?}: {error}"));
        }
    }
    assert!(lines > 15, "{lines}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_kills_its_worker_each_time_reaches_its_limit() {
    let mut order = order(["T-1"]);
    order.max_iterations = 3;
    let lives = CrashingRun::new(order, [("T-1", vec![Turn::Hangs])]);

    // Work on the task starts, and then the iteration that kills.
    let served = lives.serve_through([Kill::After(2); 3]);
    let outcome = tokio::time::timeout(Duration::from_secs(86_400), served);
    let outcome = outcome.await.expect("nothing begins any more");

    assert!(!outcome.is_success());
    let error = result(&outcome).error.expect("an error");
    assert!(error.contains("not done after 3 iterations"), "{error}");
    assert!(
        error.contains("the process ended during the turn"),
        "{error}"
    );
    assert_eq!(outcome.spent.cost.unknown_parts, 3);
}

#[tokio::test(start_paused = true)]
async fn earlier_spending_counts_against_the_allowance() {
    let mut order = order(["T-1"]);
    order.max_iterations = 50;
    order.allowance = Allowance::default().sessions(5);
    let lives = CrashingRun::new(
        order,
        [("T-1", vec![Turn::Says("No."), Turn::Says("Not.")])],
    );
    // Each process runs one iteration, and is lost when it starts another.
    let kills = std::iter::repeat_n(Kill::Before(4), 10);

    let outcome = lives.serve_through(kills).await;

    assert!(!outcome.is_success());
    assert_eq!(lives.started_turns(), 5);
    let error = result(&outcome).error.expect("an error");
    assert!(error.contains("sessions"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_iteration_is_charged_like_the_most_expensive_one() {
    let mut order = order(["T-1"]);
    let cents = Budget::default().with_cost(CostUsd::from_cents(21));
    order.allowance = Allowance::new(cents);
    let lives = CrashingRun::new(
        order,
        [("T-1", vec![Turn::Says("No."), Turn::Says("Not.")])],
    );

    // The first costs 7 cents, the second is lost, and a third is paid from what is left.
    let outcome = lives.serve_through([Kill::After(4)]).await;

    assert_eq!(Written::from_events(&lives.events()).iterated, 2);
    assert_eq!(outcome.spent.cost.known_usd, CostUsd::from_cents(14));
    assert_eq!(outcome.spent.cost.unknown_parts, 1);
}

#[tokio::test(start_paused = true)]
async fn an_iteration_that_was_interrupted_leaves_money_for_the_next() {
    let mut order = order(["T-1"]);
    let cents = Budget::default().with_cost(CostUsd::from_cents(100));
    order.allowance = Allowance::new(cents);
    let turns = vec![Turn::UntilStopped, Turn::Does("One.")];
    let lives = CrashingRun::new(order, [("T-1", turns)]);

    let left = lives.serve_and_leave(Duration::from_secs(90)).await;
    let outcome = lives.serve(Kill::Never).await.expect("an outcome");

    assert!(
        matches!(left.ending, RunEnding::Cancelled { .. }),
        "{left:?}"
    );
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(outcome.spent.cost.known_usd, CostUsd::from_cents(7));
    assert_eq!(outcome.spent.cost.unknown_parts, 1);
    assert_eq!(outcome.sessions, Some(2));
}

#[tokio::test(start_paused = true)]
async fn repeated_interruptions_exhaust_the_budget() {
    let mut order = order(["T-1"]);
    order.max_iterations = 4;
    let cents = Budget::default().with_cost(CostUsd::from_cents(16));
    order.allowance = Allowance::new(cents);
    // The first costs 7 cents, and so does each one of unknown cost, by estimate.
    let mut turns = vec![Turn::Says("No.")];
    turns.resize(10, Turn::UntilStopped);
    let lives = CrashingRun::new(order, [("T-1", turns)]);
    for _ in 0..2 {
        lives.serve_and_leave(Duration::from_secs(150)).await;
    }

    let outcome = lives.serve(Kill::Never).await.expect("an outcome");

    assert_eq!(lives.started_turns(), 3);
    let error = result(&outcome).error.expect("an error");
    assert!(error.contains("the cost budget is spent"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_check_that_was_interrupted_leaves_money_for_the_next() {
    for (interrupted, continues) in [(true, true), (false, false)] {
        let mut order = order(["T-1"]);
        let cents = Budget::default().with_cost(CostUsd::from_cents(100));
        order.allowance = Allowance::new(cents);
        let lives = CrashingRun::new(order, [("T-1", vec![Turn::Does("One.")])]);
        let checks = Spending::from_session(None, Default::default(), Duration::ZERO);
        let checked = WorkEvent::Checked {
            checks,
            interrupted,
        };
        let journal = WorkJournal::open(&lives.journal()).expect("a journal");
        journal.note(&checked).await.expect("it is written");

        let outcome = lives.serve(Kill::Never).await.expect("an outcome");

        assert_eq!(outcome.is_success(), continues, "{outcome:?}");
        assert_eq!(outcome.spent.cost.unknown_parts, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_quota_is_resumed() {
    let turns = vec![Turn::NoQuota(3600), Turn::Does("One.")];
    let lives = CrashingRun::new(order(["T-1"]), [("T-1", turns)]);

    // It waits after its fifth line.
    let outcome = lives.serve_through([Kill::After(4)]).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(lives.started_turns(), 2);
    assert_eq!(result(&outcome).duration, Duration::from_secs(3660));
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_stays_failed() {
    let mut order = order(["T-1", "T-2"]);
    order.max_iterations = 1;
    let turns = [
        ("T-1", vec![Turn::Says("No.")]),
        ("T-2", vec![Turn::Does("Two.")]),
    ];
    let lives = CrashingRun::new(order, turns);

    // The run, T-1: began, iteration, its end, the end of the task.
    let outcome = lives.serve_through([Kill::After(4)]).await;

    assert_eq!(lives.started_turns(), 2);
    let result = result(&outcome);
    assert_eq!(result.progress, 0.5);
    let error = result.error.expect("an error");
    assert!(error.contains("the task T-1 failed"), "{error}");
    assert!(!error.contains("T-2"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_reported_progress_continues_after_a_restart() {
    let turns = vec![Turn::Says("No."), Turn::Says("Not."), Turn::Does("One.")];
    let lives = CrashingRun::new(order(["T-1"]), [("T-1", turns)]);
    assert!(lives.serve(Kill::After(5)).await.is_none());
    let before = lives.reports().len();

    let outcome = lives.serve(Kill::Never).await.expect("an outcome");

    let reports = lives.reports();
    let first = &reports[before];
    assert_eq!(first.iteration, 2);
    assert_eq!(first.spent.cost.known_usd, CostUsd::from_cents(14));
    assert_eq!(outcome.spent.cost.known_usd, CostUsd::from_cents(21));
}

#[tokio::test(start_paused = true)]
async fn a_changed_prompt_survives_a_restart() {
    let lives = lives();
    let kill = Kill::After(12);
    assert!(lives.serve(kill).await.is_none());
    let last = lives.events().pop();
    let Some(WorkEvent::Recovered { .. }) = last else {
        panic!("the kill is in another place: {last:?}");
    };
    let before = lives.goals().len();

    let outcome = lives.serve(Kill::Never).await.expect("an outcome");

    assert!(outcome.is_success(), "{outcome:?}");
    assert_ne!(lives.goals()[before], "Do it.");
}

#[tokio::test(start_paused = true)]
async fn the_journal_of_another_run_is_refused() {
    let lives = CrashingRun::new(order(["T-1"]), [("T-1", vec![Turn::Does("One.")])]);
    lives.serve(Kill::Never).await.expect("an outcome");
    let before = lives.events();

    let outcome = lives.serve_as("another").await;

    let RunEnding::Failed { failure } = &outcome.ending else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure.code, "journal");
    assert_eq!(lives.events(), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_loop_that_is_killed_repeatedly_loses_and_repeats_nothing(
        kills in prop::collection::vec((0_usize..12, any::<bool>()), 0..8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let lives = lives();
            let kills = kills.into_iter().map(|(number, before)| if before {
                Kill::Before(number)
            } else {
                Kill::After(number)
            });

            let outcome = lives.serve_through(kills).await;

            check(&lives, &outcome)
        })?;
    }

    #[test]
    fn a_replayed_state_does_not_depend_on_how_it_is_read(
        kills in prop::collection::vec(0_usize..12, 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let events = runtime.block_on(async {
            let lives = lives();
            lives.serve_through(kills.into_iter().map(Kill::Before)).await;
            lives.events()
        });
        let (first, rest) = events.split_at(cut.index(events.len()));

        let before: RecoveredState = first.iter().collect();
        let mut after = before.clone();
        for event in rest {
            after.apply(event);
        }

        prop_assert_eq!(&after, &events.iter().collect::<RecoveredState>());
        // No known message is forgotten.
        prop_assert!(before.delivered().is_subset(after.delivered()));
        prop_assert!(before.done().count() <= after.done().count());
        prop_assert!(before.done().zip(after.done()).all(|(one, other)| one == other));
        let (one, other) = (before.spending(), after.spending());
        prop_assert!(one.spent.cost.known_usd <= other.spent.cost.known_usd);
        prop_assert!(one.spent.time <= other.spent.time);
        // Every started iteration has either ended or was interrupted.
        let written = Written::from_events(first);
        prop_assert_eq!(before.interrupted() as usize, written.cut_off);
        prop_assert_eq!(one.sessions as usize, written.iterated + written.cut_off);
        for (task, numbers) in &written.iterations {
            prop_assert_eq!(before.iterations_of(task) as usize, numbers.len());
        }
    }
}
