//! What persons tell a run, and how its history is begun anew.

use autonoe_core::{
    Epoch, ExitReason, Failure, HostedOutcome, RunInstruction, SessionEnd, SessionResult,
};

use super::super::Lost;
use super::rules::{finished, in_session, lost};
use super::*;

/// A course that holds before its second session.
fn held() -> SessionsCourse {
    let mut course = in_session();
    course.came(at(1), Came::Told(RunInstruction::Pause));
    course.came(at(9), ended(1));
    assert_eq!(course.next(at(9)), Step::AwaitInstruction);
    course
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
fn what_is_not_heard_yet_is_counted_also_while_the_run_is_held() {
    for mut course in [in_session(), held()] {
        let say = RunInstruction::Say("12345".to_owned());

        course.came(at(20), Came::Told(say.clone()));
        let _ = course.next(at(20));
        course.came(at(21), Came::Told(say));

        assert_eq!(course.look().unheard, 10);
    }
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
        (
            in_session(),
            Some(Came::Answered(Ok(SessionAnswer::Fenced {
                latest: Epoch(7),
            }))),
        ),
        (
            in_session(),
            Some(Came::Answered(Ok(SessionAnswer::Failed(
                Failure::permanent("gone", "no folder"),
            )))),
        ),
        (held(), None),
    ];
    for (mut course, came) in table {
        course.came(at(30), Came::Cancelled("enough".to_owned()));
        if let Some(came) = came {
            course.came(at(30), came);
        }

        let report = finished(&mut course, at(30));
        assert_eq!(report.exit, ExitReason::Interrupted);
    }
}

#[test]
fn what_was_said_before_the_cancellation_is_named_as_undelivered() {
    let mut course = held();
    course.came(at(20), Came::Told(RunInstruction::Say("Hello?".to_owned())));
    course.came(at(20), Came::Told(RunInstruction::Resume));

    course.came(at(20), Came::Cancelled("enough".to_owned()));

    let report = finished(&mut course, at(20));
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
