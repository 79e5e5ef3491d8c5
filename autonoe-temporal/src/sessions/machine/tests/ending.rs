//! End of a run: recording on its host.

use autonoe_core::engine::RunInstruction;
use autonoe_core::event::Failure;
use autonoe_core::{ExitReason, RunReport};

use super::rules::in_session;
use super::*;

/// A state machine whose host `a` is to record that all deliverables have passed, and the report.
fn ending() -> (SessionsMachine, RunReport) {
    let mut state_machine = in_session();
    state_machine.on_event(at(5), ended(2));
    let step = state_machine.next(at(5));
    let SessionsStep::Conclude { queue, end } = &step else {
        panic!("{step:?}");
    };
    assert_eq!((queue.as_str(), end.epoch), ("a", Epoch(1)));
    assert_eq!(end.run_ref, state_machine.run_ref());
    assert_eq!(end.report.exit, ExitReason::AllPassed);
    let report = end.report.clone();
    (state_machine, report)
}

#[test]
fn the_host_records_the_end_once_and_the_report_does_not_change() {
    let (mut state_machine, report) = ending();

    state_machine.on_event(at(35), SessionsEvent::Concluded);

    assert_eq!(
        state_machine.next(at(35)),
        SessionsStep::Finish(Box::new(report.clone()))
    );
    // The end is not repeated.
    state_machine.on_event(at(40), SessionsEvent::Concluded);
    assert_eq!(
        state_machine.next(at(40)),
        SessionsStep::Finish(Box::new(report))
    );
}

#[test]
fn an_unclaimed_run_ends_without_a_record_on_a_host() {
    let mut state_machine = state_machine();
    let _ = state_machine.next(at(0));
    let error = Failure::permanent("unclaimed", "no folder");

    state_machine.on_event(at(1), SessionsEvent::Claimed(Err(error)));

    assert!(matches!(state_machine.next(at(1)), SessionsStep::Finish(_)));
}

#[test]
fn the_host_also_records_a_cancelled_or_failed_run() {
    let mut cancelled = in_session();
    cancelled.on_event(at(5), SessionsEvent::Cancelled("enough".to_owned()));
    cancelled.on_event(at(5), SessionsEvent::Answered(Ok(SessionAnswer::Cancelled)));
    let mut failed = in_session();
    let failure = Failure::permanent("gone", "no folder");
    failed.on_event(
        at(5),
        SessionsEvent::Answered(Ok(SessionAnswer::Failed(failure))),
    );

    for mut state_machine in [cancelled, failed] {
        let step = state_machine.next(at(5));
        assert!(matches!(step, SessionsStep::Conclude { .. }), "{step:?}");
        state_machine.on_event(at(5), SessionsEvent::Concluded);
        let step = state_machine.next(at(5));
        assert!(matches!(step, SessionsStep::Finish(_)), "{step:?}");
    }
}

#[test]
fn events_during_the_recording_do_not_change_the_end() {
    let (mut state_machine, report) = ending();

    state_machine.on_event(at(6), SessionsEvent::Cancelled("too late".to_owned()));
    state_machine.on_event(at(6), SessionsEvent::Instructed(RunInstruction::Pause));
    state_machine.on_event(at(6), SessionsEvent::HistoryIsLong);
    assert!(matches!(
        state_machine.next(at(6)),
        SessionsStep::Conclude { .. }
    ));
    state_machine.on_event(at(7), SessionsEvent::Concluded);

    assert_eq!(
        state_machine.next(at(7)),
        SessionsStep::Finish(Box::new(report))
    );
}

#[test]
fn messages_during_the_recording_are_reported_as_undelivered() {
    let (mut state_machine, mut report) = ending();

    let message = RunInstruction::Message("The tests come first.".to_owned());
    state_machine.on_event(at(6), SessionsEvent::Instructed(message));
    state_machine.on_event(at(7), SessionsEvent::Concluded);

    report
        .undelivered_messages
        .push("The tests come first.".to_owned());
    assert_eq!(
        state_machine.next(at(7)),
        SessionsStep::Finish(Box::new(report))
    );
}

#[test]
fn an_ended_run_does_not_start_a_new_history() {
    let mut state_machine = in_session();
    state_machine.on_event(at(5), SessionsEvent::HistoryIsLong);
    state_machine.on_event(at(5), ended(2));

    assert!(matches!(
        state_machine.next(at(5)),
        SessionsStep::Conclude { .. }
    ));
    state_machine.on_event(at(6), SessionsEvent::Concluded);
    assert!(matches!(state_machine.next(at(6)), SessionsStep::Finish(_)));
}

#[test]
fn a_recorded_end_is_ignored_by_a_running_run() {
    let mut state_machine = in_session();

    state_machine.on_event(at(5), SessionsEvent::Concluded);

    assert_eq!(session(&state_machine.next(at(5))), (1, 1, "a"));
}
