//! Engines with one fault each.

use std::sync::Arc;

use autonoe_core::engine::LocalEngine;
use autonoe_testkit::conformance::engine;

use crate::conformance::faulty_engine::{Fault, FaultyEngine};

#[tokio::test(start_paused = true)]
async fn the_engine_in_this_process_conforms() {
    let report = engine(async |runner| Arc::new(LocalEngine::new(runner)) as Arc<_>).await;

    report.assert();
    assert_eq!(report.passed().len(), 22, "{report}");
    assert!(report.skipped().is_empty(), "{report}");
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_found() {
    let same = "submitting the same run again has no effect";
    let stays = "an outcome stays";
    let ends = "a cancelled run ends with all that it started";
    let at_once = "a run that is cancelled at once ends as cancelled";
    let keeps = "a run that has ended keeps its outcome";
    let others = "cancelling one run does not affect others";
    let order = "instructions are delivered in their order, each once";
    let pause = "pause and resume reach the run and are visible";
    let shows = "a run has an outcome once it has ended";
    let unknown = "a run that was not submitted is unknown";
    let panics = "a run whose work panics has failed";
    let fails = "a failure is reported unchanged";
    let check = "a run is executed and its output is reported";
    let many = "concurrent submissions of a run start it once";
    let another = "another run under the same id is refused";
    let ids = "the id of a run that has ended is not used again";
    let dropped = "a dropped submission takes effect completely or not at all";
    let twice = "a run may be cancelled twice";
    let waiters = "all waiting callers receive the same outcome";
    for (fault, checks) in [
        (Fault::StartsTwice, &[same, many, another, ids, dropped][..]),
        (Fault::TakesAnotherRun, &[another, ids]),
        (Fault::ForgetsOutcomes, &[stays, waiters, ids, keeps]),
        (
            Fault::TakesFailuresForSuccesses,
            &[fails, panics, ends, at_once, twice],
        ),
        (Fault::LosesCost, &[check, fails, keeps, shows]),
        (Fault::ReportsCancelledRunsEarly, &[ends, at_once]),
        (Fault::DoesNotCancel, &[ends, at_once, twice, others]),
        (Fault::CancelsAll, &[others]),
        (Fault::LosesCancelReason, &[ends, at_once]),
        (Fault::CancelsEndedRuns, &[ends, at_once, keeps]),
        (Fault::DeliversTwice, &[order, pause]),
        (Fault::DeliversInReverse, &[order, pause]),
        (
            Fault::TakesInstructionsAfterTheEnd,
            &["an instruction that no agent will read is refused"],
        ),
        (Fault::HidesPauses, &[pause]),
        (Fault::HidesProgress, &["the progress of a run is visible"]),
        (Fault::HidesOutcomes, &[keeps, shows]),
        (Fault::KnowsEverybody, &[unknown]),
        (
            Fault::CancelsWithTheWaiter,
            &["a caller that stops waiting changes nothing"],
        ),
        (Fault::Nothing, &[]),
    ] {
        let report = engine(async |runner| FaultyEngine::around(fault, runner)).await;

        let failures = report.failures().iter();
        let failed: Vec<&str> = failures.map(|failure| failure.check.as_str()).collect();
        assert_eq!((fault, &failed[..]), (fault, checks), "{report}");
    }
}
