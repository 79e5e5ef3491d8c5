//! Rules about instructions, and about new histories.

use autonoe_core::ExitReason;
use autonoe_core::agent::{SessionEnd, SessionReport};
use autonoe_core::engine::{HostedOutcome, RunInstruction};
use autonoe_core::event::Failure;
use autonoe_core::time::Epoch;

use super::super::NoAnswer;
use super::rules::{finished, in_session, lost};
use super::*;

/// A state machine that is paused before its second session.
fn held() -> SessionsMachine {
    let mut state_machine = in_session();
    state_machine.on_event(at(1), SessionsEvent::Instructed(RunInstruction::Pause));
    state_machine.on_event(at(9), ended(1));
    assert_eq!(state_machine.next(at(9)), SessionsStep::AwaitInstruction);
    state_machine
}

#[test]
fn a_pause_holds_the_next_session_and_a_resume_reads_the_ledger_first() {
    let mut state_machine = held();
    assert!(state_machine.state().is_paused);

    state_machine.on_event(at(20), SessionsEvent::Instructed(RunInstruction::Resume));
    assert!(!state_machine.state().is_paused && state_machine.has_instructions());
    assert!(matches!(
        state_machine.next(at(20)),
        SessionsStep::ReadLedger(_)
    ));
    state_machine.on_event(at(21), SessionsEvent::LedgerRead(Ok(Ok(ledger(2, 1)))));

    assert_eq!(session(&state_machine.next(at(21))), (2, 1, "a"));
}

#[test]
fn a_paused_run_with_an_unreachable_host_is_claimed_by_another() {
    let mut state_machine = held();
    state_machine.on_event(at(20), SessionsEvent::Instructed(RunInstruction::Resume));
    let _ = state_machine.next(at(20));

    state_machine.on_event(
        at(80),
        SessionsEvent::LedgerRead(Err(NoAnswer::HostUnreachable)),
    );
    assert_eq!(
        state_machine.next(at(80)),
        SessionsStep::Claim { queue: None }
    );
    state_machine.on_event(at(81), claimed("b", 2));

    assert_eq!(session(&state_machine.next(at(81))), (2, 2, "b"));
}

#[test]
fn a_message_during_a_session_reaches_the_next_one() {
    let mut state_machine = in_session();

    let message = RunInstruction::Message("The tests come first.".to_owned());
    state_machine.on_event(at(1), SessionsEvent::Instructed(message));
    state_machine.on_event(at(9), ended(1));

    let SessionsStep::Session(_, call) = state_machine.next(at(9)) else {
        panic!("it has no session");
    };
    assert_eq!(call.session.messages, ["The tests come first."]);
}

#[test]
fn undelivered_messages_are_counted_while_the_run_is_paused() {
    for mut state_machine in [in_session(), held()] {
        let message = RunInstruction::Message("12345".to_owned());

        state_machine.on_event(at(20), SessionsEvent::Instructed(message.clone()));
        let _ = state_machine.next(at(20));
        state_machine.on_event(at(21), SessionsEvent::Instructed(message));

        assert_eq!(state_machine.state().undelivered_bytes, 10);
    }
}

#[test]
fn a_cancelled_run_ends_in_every_state() {
    let mut waiting = state_machine();
    let _ = waiting.next(at(0));
    let unclaimed = Failure::retryable("cancelled", "no host claims it");
    let cancelled_in_session = {
        let result = SessionReport::new(SessionEnd::Cancelled);
        let outcome = HostedOutcome::new(result, Ok(ledger(2, 0)));
        SessionsEvent::Answered(Ok(SessionAnswer::Ended(Box::new(outcome))))
    };
    let table = [
        (waiting, Some(SessionsEvent::Claimed(Err(unclaimed)))),
        (in_session(), Some(cancelled_in_session)),
        (
            in_session(),
            Some(SessionsEvent::Answered(Ok(SessionAnswer::Cancelled))),
        ),
        (
            in_session(),
            Some(SessionsEvent::Answered(Err(NoAnswer::Cancelled))),
        ),
        (
            in_session(),
            Some(SessionsEvent::Answered(Err(NoAnswer::HostUnreachable))),
        ),
        (in_session(), Some(lost())),
        (
            in_session(),
            Some(SessionsEvent::Answered(Ok(SessionAnswer::Fenced {
                latest: Epoch(7),
            }))),
        ),
        (
            in_session(),
            Some(SessionsEvent::Answered(Ok(SessionAnswer::Failed(
                Failure::permanent("gone", "no folder"),
            )))),
        ),
        (held(), None),
    ];
    for (mut state_machine, event) in table {
        state_machine.on_event(at(30), SessionsEvent::Cancelled("enough".to_owned()));
        if let Some(event) = event {
            state_machine.on_event(at(30), event);
        }

        let report = finished(&mut state_machine, at(30));
        assert_eq!(report.exit, ExitReason::Interrupted);
    }
}

#[test]
fn messages_before_the_cancellation_are_reported_as_undelivered() {
    let mut state_machine = held();
    state_machine.on_event(
        at(20),
        SessionsEvent::Instructed(RunInstruction::Message("Hello?".to_owned())),
    );
    state_machine.on_event(at(20), SessionsEvent::Instructed(RunInstruction::Resume));

    state_machine.on_event(at(20), SessionsEvent::Cancelled("enough".to_owned()));

    let report = finished(&mut state_machine, at(20));
    assert_eq!(report.undelivered_messages, ["Hello?"]);
}

#[test]
fn a_long_history_is_replaced_by_a_new_one_with_the_same_state() {
    let mut state_machine = in_session();
    state_machine.on_event(at(60), lost());
    state_machine.on_event(at(60), SessionsEvent::Instructed(RunInstruction::Pause));

    state_machine.on_event(at(60), SessionsEvent::HistoryIsLong);
    assert_eq!(state_machine.next(at(60)), SessionsStep::NewHistory);
    let carried = serde_json::to_value(state_machine.next_input()).expect("it is JSON");
    let carried = serde_json::from_value(carried).expect("it is the same");
    let mut state_machine = SessionsMachine::new(carried);

    assert_eq!(session(&state_machine.next(at(60))), (1, 1, "a"));
    assert_eq!(state_machine.known.tries, 1);
    assert!(state_machine.state().is_paused);
    state_machine.on_event(at(70), ended(1));
    assert_eq!(state_machine.next(at(70)), SessionsStep::AwaitInstruction);
}

#[test]
fn a_new_history_starts_after_a_number_of_sessions() {
    let timeouts = Timeouts {
        sessions_in_history: 1,
        ..Timeouts::default()
    };
    let mut state_machine = SessionsMachine::new(SessionsInput {
        timeouts,
        ..in_session().next_input()
    });
    assert_eq!(session(&state_machine.next(at(0))), (1, 1, "a"));

    state_machine.on_event(at(9), ended(1));

    assert_eq!(state_machine.next(at(9)), SessionsStep::NewHistory);
}

#[test]
fn unexpected_events_change_nothing() {
    let mut state_machine = held();
    let before = state_machine.clone();

    state_machine.on_event(at(10), ended(2));
    state_machine.on_event(at(10), lost());

    assert_eq!(state_machine, before);
}
