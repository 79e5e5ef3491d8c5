//! The rules of the specification, one by one.

use std::time::Duration;

use autonoe_core::{
    Epoch, ExitReason, Failure, HostedOutcome, RunInstruction, RunReport, SessionEnd,
    SessionOutcome, SessionResult,
};

use super::super::{Lost, TRY_AGAIN};
use super::*;

/// A course whose first session is under way on the host `a`.
fn in_session() -> SessionsCourse {
    let mut course = course();
    assert_eq!(course.next(at(0)), Step::Claim { queue: None });
    course.came(at(0), claimed("a", 1));
    assert_eq!(session(&course.next(at(0))), (1, 1, "a"));
    course
}

/// A course that holds before its second session.
fn held() -> SessionsCourse {
    let mut course = in_session();
    course.came(at(1), Came::Told(RunInstruction::Pause));
    course.came(at(9), ended(1));
    assert_eq!(course.next(at(9)), Step::AwaitInstruction);
    course
}

fn finished(step: Step) -> RunReport {
    let Step::Finish(report) = step else {
        panic!("{step:?}");
    };
    *report
}

/// Returns the code of the failure that a run ended with.
fn failed(step: Step) -> String {
    match finished(step).exit {
        ExitReason::Failed { error } => error.code,
        exit => panic!("{exit:?}"),
    }
}

fn lost() -> Came {
    Came::Answered(Err(Lost::Worker("it is gone".to_owned())))
}

#[test]
fn a_run_goes_on_until_all_has_passed() {
    let mut course = in_session();

    course.came(at(5), ended(1));
    assert_eq!(session(&course.next(at(5))), (2, 1, "a"));
    course.came(at(9), ended(2));

    let report = finished(course.next(at(9)));
    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!((report.sessions, report.passed), (2, 2));
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

    assert_eq!(failed(course.next(at(5))), "overtaken");
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

    let report = finished(course.next(at(60)));
    assert!(matches!(&report.exit, ExitReason::Failed { error } if error.code == "worker_lost"));
    // Nobody tells how often it began; once, for all that one knows.
    assert_eq!(report.cost.unknown_parts, 1);
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

        let report = finished(course.next(at(90)));
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

    assert_eq!(failed(course.next(at(7))), "gone");
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

    assert_eq!(failed(course.next(at(5))), "corrupt");
}

#[test]
fn a_run_that_nobody_can_claim_has_failed() {
    let mut course = course();
    let _ = course.next(at(0));

    let error = Failure::permanent("unclaimed", "no folder");
    course.came(at(1), Came::Claimed(Err(error)));

    assert_eq!(failed(course.next(at(1))), "unclaimed");
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
    assert_eq!(finished(course.next(at(3601))).exit, ExitReason::AllPassed);
}

#[test]
fn a_pause_holds_the_next_session_and_a_resume_looks_first() {
    let mut course = held();
    assert!(course.look().is_paused);

    course.came(at(20), Came::Told(RunInstruction::Resume));
    assert!(!course.look().is_paused && course.has_news());
    assert!(matches!(course.next(at(20)), Step::Look(_)));
    course.came(at(21), Came::Looked(Ok(Ok(ledger(2, 1)))));

    assert_eq!(session(&course.next(at(21))), (2, 1, "a"));
}

#[test]
fn a_held_run_whose_host_is_gone_is_claimed_by_another() {
    let mut course = held();
    course.came(at(20), Came::Told(RunInstruction::Resume));
    let _ = course.next(at(20));

    course.came(at(80), Came::Looked(Err(Lost::HostIsGone)));
    assert_eq!(course.next(at(80)), Step::Claim { queue: None });
    course.came(at(81), claimed("b", 2));

    assert_eq!(session(&course.next(at(81))), (2, 2, "b"));
}

#[test]
fn what_is_said_during_a_session_reaches_the_next() {
    let mut course = in_session();

    let say = RunInstruction::Say("The tests come first.".to_owned());
    course.came(at(1), Came::Told(say));
    course.came(at(9), ended(1));

    let Step::Session(_, call) = course.next(at(9)) else {
        panic!("it has no session");
    };
    assert_eq!(call.session.messages, ["The tests come first."]);
}

#[test]
fn a_cancelled_run_ends_whatever_it_does() {
    let mut waiting = course();
    let _ = waiting.next(at(0));
    let unclaimed = Failure::retryable("cancelled", "no host claims it");
    let cancelled_in_session = {
        let result = SessionResult::new(SessionEnd::Cancelled);
        let outcome = HostedOutcome::new(result, Ok(ledger(2, 0)));
        Came::Answered(Ok(SessionAnswer::Ended(Box::new(outcome))))
    };
    let table = [
        (waiting, Some(Came::Claimed(Err(unclaimed)))),
        (in_session(), Some(cancelled_in_session)),
        (
            in_session(),
            Some(Came::Answered(Ok(SessionAnswer::Cancelled))),
        ),
        (in_session(), Some(Came::Answered(Err(Lost::Cancelled)))),
        (in_session(), Some(Came::Answered(Err(Lost::HostIsGone)))),
        (in_session(), Some(lost())),
        (held(), None),
    ];
    for (mut course, came) in table {
        course.came(at(30), Came::Cancelled("enough".to_owned()));
        if let Some(came) = came {
            course.came(at(30), came);
        }

        let report = finished(course.next(at(30)));
        assert_eq!(report.exit, ExitReason::Interrupted);
    }
}

#[test]
fn what_was_said_before_the_cancellation_is_named_as_undelivered() {
    let mut course = held();
    course.came(at(20), Came::Told(RunInstruction::Say("Hello?".to_owned())));
    course.came(at(20), Came::Told(RunInstruction::Resume));

    course.came(at(20), Came::Cancelled("enough".to_owned()));

    let report = finished(course.next(at(20)));
    assert_eq!(report.undelivered_messages, ["Hello?"]);
}

#[test]
fn a_long_history_is_begun_anew_with_all_that_is_known() {
    let mut course = in_session();
    course.came(at(60), lost());
    course.came(at(60), Came::Told(RunInstruction::Pause));

    course.came(at(60), Came::HistoryIsLong);
    assert_eq!(course.next(at(60)), Step::BeginAnew);
    let carried = serde_json::to_value(course.anew()).expect("it is JSON");
    let carried = serde_json::from_value(carried).expect("it is the same");
    let mut course = SessionsCourse::of(carried);

    assert_eq!(session(&course.next(at(60))), (1, 1, "a"));
    assert_eq!(course.known.tries, 1);
    assert!(course.look().is_paused);
    course.came(at(70), ended(1));
    assert_eq!(course.next(at(70)), Step::AwaitInstruction);
}

#[test]
fn a_history_is_begun_anew_after_so_many_sessions() {
    let pace = Pace {
        sessions_in_history: 1,
        ..Pace::default()
    };
    let mut course = SessionsCourse::of(SessionsBegin {
        pace,
        ..in_session().anew()
    });
    assert_eq!(session(&course.next(at(0))), (1, 1, "a"));

    course.came(at(9), ended(1));

    assert_eq!(course.next(at(9)), Step::BeginAnew);
}

#[test]
fn what_fits_nothing_changes_nothing() {
    let mut course = held();
    let before = course.clone();

    course.came(at(10), ended(2));
    course.came(at(10), lost());

    assert_eq!(course, before);
}
