//! What hosts, workers and sessions do to a run.

use std::time::Duration;

use autonoe_core::{
    Epoch, ExitReason, Failure, HostedOutcome, RunReport, SessionEnd, SessionOutcome, SessionResult,
};

use super::super::{Lost, TRY_AGAIN};
use super::*;

/// A course whose first session is under way on the host `a`.
pub(super) fn in_session() -> SessionsCourse {
    let mut course = course();
    assert_eq!(course.next(at(0)), Step::Claim { queue: None });
    course.came(at(0), claimed("a", 1));
    assert_eq!(session(&course.next(at(0))), (1, 1, "a"));
    course
}

/// Returns the report that a run ends with, after its host was told it, if it has one.
pub(super) fn finished(course: &mut SessionsCourse, now: Timestamp) -> RunReport {
    let mut step = course.next(now);
    if let Step::Conclude { .. } = step {
        course.came(now, Came::Concluded);
        step = course.next(now);
    }
    let Step::Finish(report) = step else {
        panic!("{step:?}");
    };
    *report
}

/// Returns the code of the failure that a run ended with.
fn failed(course: &mut SessionsCourse, now: Timestamp) -> String {
    match finished(course, now).exit {
        ExitReason::Failed { error } => error.code,
        exit => panic!("{exit:?}"),
    }
}

pub(super) fn lost() -> Came {
    Came::Answered(Err(Lost::Worker("it is gone".to_owned())))
}

#[test]
fn a_run_goes_on_until_all_has_passed() {
    let mut course = in_session();

    course.came(at(5), ended(1));
    assert_eq!(session(&course.next(at(5))), (2, 1, "a"));
    course.came(at(9), ended(2));

    let report = finished(&mut course, at(9));
    assert_eq!(report.exit, ExitReason::AllPassed);
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((report.sessions, reported.passed), (2, 2));
    assert_eq!(report.elapsed, Duration::from_secs(9));
}

#[test]
fn a_host_that_is_gone_is_followed_by_another_with_a_higher_epoch() {
    let mut course = in_session();

    course.came(at(60), Came::Answered(Err(Lost::HostIsGone)));
    assert_eq!(course.next(at(60)), Step::Claim { queue: None });
    // Nothing is known there of the host before.
    course.came(at(61), claimed("b", 1));

    assert_eq!(session(&course.next(at(61))), (1, 2, "b"));
}

#[test]
fn a_run_that_is_bound_to_a_host_waits_for_it() {
    let bound = SessionsBegin {
        host_queue: Some("a".to_owned()),
        ..in_session().anew()
    };
    let mut course = SessionsCourse::of(SessionsBegin {
        carried: None,
        ..bound
    });

    let queue = Some("a".to_owned());
    assert_eq!(course.next(at(0)), Step::Claim { queue });
    course.came(at(0), claimed("a", 1));

    let Step::Session(host, _) = course.next(at(0)) else {
        panic!("it has no session");
    };
    assert_eq!(host.patience, None);
}

#[test]
fn who_was_overtaken_fails_and_does_not_fight() {
    let mut course = in_session();

    let latest = Epoch(7);
    course.came(at(5), Came::Answered(Ok(SessionAnswer::Fenced { latest })));

    assert_eq!(failed(&mut course, at(5)), "overtaken");
}

#[test]
fn a_session_that_is_lost_with_its_worker_is_tried_again_on_its_host_but_not_for_ever() {
    let mut course = in_session();
    let attempts = Pace::default().attempts;

    for _ in 1..attempts {
        course.came(at(60), lost());
        assert_eq!(session(&course.next(at(60))), (1, 1, "a"));
    }
    course.came(at(60), lost());

    let report = finished(&mut course, at(60));
    assert!(matches!(&report.exit, ExitReason::Failed { error } if error.code == "worker_lost"));
    // Nobody tells how often it began; once, for all that one knows.
    assert_eq!(report.cost.unknown_parts, 1);
}

#[test]
fn a_session_that_is_cancelled_while_nobody_cancels_the_run_is_tried_again_but_not_for_ever() {
    for answer in [Ok(SessionAnswer::Cancelled), Err(Lost::Cancelled)] {
        let mut course = in_session();

        for _ in 1..Pace::default().attempts {
            course.came(at(60), Came::Answered(answer.clone()));
            assert_eq!(course.next(at(60)), Step::Timer(TRY_AGAIN));
            course.came(at(65), Came::TimeIsUp);
            assert_eq!(session(&course.next(at(65))), (1, 1, "a"));
        }
        course.came(at(60), Came::Answered(answer));

        let report = finished(&mut course, at(60));
        let ExitReason::Failed { error } = &report.exit else {
            panic!("{report:?}");
        };
        assert_eq!(error.code, "cancelled_by_nobody");
        // It did not begin.
        assert_eq!(report.cost.unknown_parts, 0);
    }
}

#[test]
fn a_session_counts_as_lost_as_often_as_its_host_has_written_down() {
    for (written_down, counted) in [(0, 0), (2, 2)] {
        let mut course = in_session();
        course.came(at(60), lost());
        let outcome = HostedOutcome::new(SessionResult::completed(), Ok(ledger(2, 2)));
        let outcome = outcome.after_losses(written_down);
        let ended = SessionAnswer::Ended(Box::new(outcome));

        course.came(at(90), Came::Answered(Ok(ended)));

        let report = finished(&mut course, at(90));
        assert_eq!(report.cost.unknown_parts, counted);
    }
}

#[test]
fn tries_are_counted_for_each_session() {
    let mut course = in_session();
    for _ in 1..Pace::default().attempts {
        course.came(at(60), lost());
    }
    course.came(at(60), ended(1));

    course.came(at(61), lost());

    assert_eq!(session(&course.next(at(61))), (2, 1, "a"));
}

#[test]
fn a_session_that_did_not_begin_is_tried_again_after_a_rest_if_that_may_help() {
    let mut course = in_session();
    let failed_with = |failure| Came::Answered(Ok(SessionAnswer::Failed(failure)));

    course.came(at(1), failed_with(Failure::retryable("busy", "no room")));
    assert_eq!(course.next(at(1)), Step::Timer(TRY_AGAIN));
    course.came(at(6), Came::TimeIsUp);
    assert_eq!(session(&course.next(at(6))), (1, 1, "a"));
    course.came(at(7), failed_with(Failure::permanent("gone", "no folder")));

    assert_eq!(failed(&mut course, at(7)), "gone");
}

#[test]
fn a_ledger_that_cannot_be_read_is_looked_at_again_if_that_may_help() {
    let claim = |ledger| {
        Came::Claimed(Ok(Claim {
            queue: "a".to_owned(),
            epoch: Epoch(1),
            ledger: Err(ledger),
        }))
    };
    let mut course = course();
    let _ = course.next(at(0));

    course.came(at(0), claim(Failure::retryable("io", "busy")));
    assert_eq!(course.next(at(0)), Step::Timer(TRY_AGAIN));
    course.came(at(5), Came::TimeIsUp);
    assert!(matches!(course.next(at(5)), Step::Look(_)));
    let corrupt = Failure::permanent("corrupt", "no ledger");
    course.came(at(5), Came::Looked(Ok(Err(corrupt))));

    assert_eq!(failed(&mut course, at(5)), "corrupt");
}

#[test]
fn a_run_that_nobody_can_claim_has_failed() {
    let mut course = course();
    let _ = course.next(at(0));

    let error = Failure::permanent("unclaimed", "no folder");
    course.came(at(1), Came::Claimed(Err(error)));

    assert_eq!(failed(&mut course, at(1)), "unclaimed");
}

#[test]
fn a_wait_for_quota_is_a_timer_and_the_ledger_is_looked_at_after_it() {
    let mut limits = autonoe_core::RunLimits::new(Mode::Run);
    limits.on_quota = autonoe_core::OnQuota::Wait;
    let mut course = SessionsCourse::of(begin(limits, Pace::default()));
    let _ = course.next(at(0));
    course.came(at(0), claimed("a", 1));
    let _ = course.next(at(0));
    let mut result = SessionResult::completed();
    result.end = SessionEnd::Outcome(SessionOutcome::QuotaExceeded {
        message: "limit".to_owned(),
        resets_at: Some(at(3600)),
    });
    let outcome = HostedOutcome::new(result, Ok(ledger(2, 0)));

    course.came(
        at(10),
        Came::Answered(Ok(SessionAnswer::Ended(Box::new(outcome)))),
    );
    assert_eq!(course.next(at(10)), Step::Timer(Duration::from_secs(3590)));
    // Too early is not over.
    course.came(at(3599), Came::TimeIsUp);
    assert_eq!(course.next(at(3599)), Step::Timer(Duration::from_secs(1)));
    course.came(at(3600), Came::TimeIsUp);
    assert!(matches!(course.next(at(3600)), Step::Look(_)));
    course.came(at(3601), Came::Looked(Ok(Ok(ledger(2, 2)))));

    // Others had done what was left.
    assert_eq!(finished(&mut course, at(3601)).exit, ExitReason::AllPassed);
}
