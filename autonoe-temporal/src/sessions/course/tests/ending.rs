//! How a run tells its host that it has ended.

use autonoe_core::{ExitReason, Failure, RunInstruction, RunReport};

use super::rules::in_session;
use super::*;

/// A course that is to tell the host `a` that all has passed, and what it is to tell.
fn ending() -> (SessionsCourse, RunReport) {
    let mut course = in_session();
    course.came(at(5), ended(2));
    let step = course.next(at(5));
    let Step::Conclude { queue, end } = &step else {
        panic!("{step:?}");
    };
    assert_eq!((queue.as_str(), end.epoch), ("a", Epoch(1)));
    assert_eq!(end.whose, course.whose());
    assert_eq!(end.report.exit, ExitReason::AllPassed);
    let report = end.report.clone();
    (course, report)
}

#[test]
fn the_host_is_told_the_end_once_and_what_is_told_later_is_the_same() {
    let (mut course, report) = ending();

    course.came(at(35), Came::Concluded);

    assert_eq!(course.next(at(35)), Step::Finish(Box::new(report.clone())));
    // It does not begin again.
    course.came(at(40), Came::Concluded);
    assert_eq!(course.next(at(40)), Step::Finish(Box::new(report)));
}

#[test]
fn a_run_that_no_host_has_claimed_has_nobody_to_tell() {
    let mut course = course();
    let _ = course.next(at(0));
    let error = Failure::permanent("unclaimed", "no folder");

    course.came(at(1), Came::Claimed(Err(error)));

    assert!(matches!(course.next(at(1)), Step::Finish(_)));
}

#[test]
fn a_run_that_is_cancelled_or_fails_tells_its_host_too() {
    let mut cancelled = in_session();
    cancelled.came(at(5), Came::Cancelled("enough".to_owned()));
    cancelled.came(at(5), Came::Answered(Ok(SessionAnswer::Cancelled)));
    let mut failed = in_session();
    let failure = Failure::permanent("gone", "no folder");
    failed.came(at(5), Came::Answered(Ok(SessionAnswer::Failed(failure))));

    for mut course in [cancelled, failed] {
        let step = course.next(at(5));
        assert!(matches!(step, Step::Conclude { .. }), "{step:?}");
        course.came(at(5), Came::Concluded);
        let step = course.next(at(5));
        assert!(matches!(step, Step::Finish(_)), "{step:?}");
    }
}

#[test]
fn what_comes_while_the_host_is_told_changes_no_end() {
    let (mut course, report) = ending();

    course.came(at(6), Came::Cancelled("too late".to_owned()));
    course.came(at(6), Came::Told(RunInstruction::Pause));
    course.came(at(6), Came::HistoryIsLong);
    assert!(matches!(course.next(at(6)), Step::Conclude { .. }));
    course.came(at(7), Came::Concluded);

    assert_eq!(course.next(at(7)), Step::Finish(Box::new(report)));
}

#[test]
fn what_is_said_while_the_host_is_told_is_told_as_unheard() {
    let (mut course, mut report) = ending();

    let say = RunInstruction::Say("The tests come first.".to_owned());
    course.came(at(6), Came::Told(say));
    course.came(at(7), Came::Concluded);

    report
        .undelivered_messages
        .push("The tests come first.".to_owned());
    assert_eq!(course.next(at(7)), Step::Finish(Box::new(report)));
}

#[test]
fn a_run_that_is_over_does_not_begin_its_history_anew() {
    let mut course = in_session();
    course.came(at(5), Came::HistoryIsLong);
    course.came(at(5), ended(2));

    assert!(matches!(course.next(at(5)), Step::Conclude { .. }));
    course.came(at(6), Came::Concluded);
    assert!(matches!(course.next(at(6)), Step::Finish(_)));
}

#[test]
fn that_an_end_was_told_means_nothing_to_a_run_that_goes_on() {
    let mut course = in_session();

    course.came(at(5), Came::Concluded);

    assert_eq!(session(&course.next(at(5))), (1, 1, "a"));
}
