//! Rules about hosts, workers and sessions.

use std::time::Duration;

use autonoe_core::agent::{SessionEnd, SessionOutcome, SessionReport};
use autonoe_core::engine::HostedOutcome;
use autonoe_core::event::Failure;
use autonoe_core::time::Epoch;
use autonoe_core::{ExitReason, RunReport};

use super::super::{NoAnswer, RETRY_WAIT};
use super::*;

/// A state machine whose first session is in progress on the host `a`.
pub(super) fn in_session() -> SessionsMachine {
    let mut state_machine = state_machine();
    assert_eq!(
        state_machine.next(at(0)),
        SessionsStep::Claim { queue: None }
    );
    state_machine.on_event(at(0), claimed("a", 1));
    assert_eq!(session(&state_machine.next(at(0))), (1, 1, "a"));
    state_machine
}

/// Returns the final report of a run, after its host has recorded it, if it has a host.
pub(super) fn finished(state_machine: &mut SessionsMachine, now: Timestamp) -> RunReport {
    let mut step = state_machine.next(now);
    if let SessionsStep::Conclude { .. } = step {
        state_machine.on_event(now, SessionsEvent::Concluded);
        step = state_machine.next(now);
    }
    let SessionsStep::Finish(report) = step else {
        panic!("{step:?}");
    };
    *report
}

/// Returns the code of the failure that a run ended with.
fn failed(state_machine: &mut SessionsMachine, now: Timestamp) -> String {
    match finished(state_machine, now).exit {
        ExitReason::Failed { error } => error.code,
        exit => panic!("{exit:?}"),
    }
}

pub(super) fn lost() -> SessionsEvent {
    SessionsEvent::Answered(Err(NoAnswer::Worker("it is gone".to_owned())))
}

#[test]
fn a_run_continues_until_all_deliverables_have_passed() {
    let mut state_machine = in_session();

    state_machine.on_event(at(5), ended(1));
    assert_eq!(session(&state_machine.next(at(5))), (2, 1, "a"));
    state_machine.on_event(at(9), ended(2));

    let report = finished(&mut state_machine, at(9));
    assert_eq!(report.exit, ExitReason::AllPassed);
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((report.sessions, reported.passed), (2, 2));
    assert_eq!(report.elapsed, Duration::from_secs(9));
}

#[test]
fn an_unreachable_host_is_replaced_by_another_with_a_higher_epoch() {
    let mut state_machine = in_session();

    state_machine.on_event(
        at(60),
        SessionsEvent::Answered(Err(NoAnswer::HostUnreachable)),
    );
    assert_eq!(
        state_machine.next(at(60)),
        SessionsStep::Claim { queue: None }
    );
    // The new host knows nothing about the previous one.
    state_machine.on_event(at(61), claimed("b", 1));

    assert_eq!(session(&state_machine.next(at(61))), (1, 2, "b"));
}

#[test]
fn a_run_that_is_bound_to_a_host_waits_for_it() {
    let bound = SessionsInput {
        host_queue: Some("a".to_owned()),
        ..in_session().next_input()
    };
    let mut state_machine = SessionsMachine::new(SessionsInput {
        carried: None,
        ..bound
    });

    let queue = Some("a".to_owned());
    assert_eq!(state_machine.next(at(0)), SessionsStep::Claim { queue });
    state_machine.on_event(at(0), claimed("a", 1));

    let SessionsStep::Session(host, _) = state_machine.next(at(0)) else {
        panic!("it has no session");
    };
    assert_eq!(host.timeout, None);
}

#[test]
fn a_fenced_run_fails() {
    let mut state_machine = in_session();

    let latest = Epoch(7);
    state_machine.on_event(
        at(5),
        SessionsEvent::Answered(Ok(SessionAnswer::Fenced { latest })),
    );

    assert_eq!(failed(&mut state_machine, at(5)), "overtaken");
}

#[test]
fn a_lost_session_is_retried_on_its_host_a_limited_number_of_times() {
    let mut state_machine = in_session();
    let attempts = Timeouts::default().attempts;

    for _ in 1..attempts {
        state_machine.on_event(at(60), lost());
        assert_eq!(session(&state_machine.next(at(60))), (1, 1, "a"));
    }
    state_machine.on_event(at(60), lost());

    let report = finished(&mut state_machine, at(60));
    assert!(matches!(&report.exit, ExitReason::Failed { error } if error.code == "worker_lost"));
    // It is unknown how often the session started; at least once.
    assert_eq!(report.cost.unknown_parts, 1);
}

#[test]
fn a_session_that_is_cancelled_without_its_run_is_retried_a_limited_number_of_times() {
    for answer in [Ok(SessionAnswer::Cancelled), Err(NoAnswer::Cancelled)] {
        let mut state_machine = in_session();

        for _ in 1..Timeouts::default().attempts {
            state_machine.on_event(at(60), SessionsEvent::Answered(answer.clone()));
            assert_eq!(state_machine.next(at(60)), SessionsStep::Timer(RETRY_WAIT));
            state_machine.on_event(at(65), SessionsEvent::TimedOut);
            assert_eq!(session(&state_machine.next(at(65))), (1, 1, "a"));
        }
        state_machine.on_event(at(60), SessionsEvent::Answered(answer));

        let report = finished(&mut state_machine, at(60));
        let ExitReason::Failed { error } = &report.exit else {
            panic!("{report:?}");
        };
        assert_eq!(error.code, "cancelled_unexpectedly");
        // It did not start.
        assert_eq!(report.cost.unknown_parts, 0);
    }
}

#[test]
fn a_session_counts_as_lost_as_often_as_its_host_has_recorded() {
    for (recorded, counted) in [(0, 0), (2, 2)] {
        let mut state_machine = in_session();
        state_machine.on_event(at(60), lost());
        let outcome = HostedOutcome::new(SessionReport::completed(), Ok(ledger(2, 2)));
        let outcome = outcome.lost(recorded);
        let ended = SessionAnswer::Ended(Box::new(outcome));

        state_machine.on_event(at(90), SessionsEvent::Answered(Ok(ended)));

        let report = finished(&mut state_machine, at(90));
        assert_eq!(report.cost.unknown_parts, counted);
    }
}

#[test]
fn attempts_are_counted_for_each_session() {
    let mut state_machine = in_session();
    for _ in 1..Timeouts::default().attempts {
        state_machine.on_event(at(60), lost());
    }
    state_machine.on_event(at(60), ended(1));

    state_machine.on_event(at(61), lost());

    assert_eq!(session(&state_machine.next(at(61))), (2, 1, "a"));
}

#[test]
fn a_session_that_did_not_start_is_retried_after_a_wait_if_the_failure_is_retryable() {
    let mut state_machine = in_session();
    let failed_with = |failure| SessionsEvent::Answered(Ok(SessionAnswer::Failed(failure)));

    state_machine.on_event(at(1), failed_with(Failure::retryable("busy", "no room")));
    assert_eq!(state_machine.next(at(1)), SessionsStep::Timer(RETRY_WAIT));
    state_machine.on_event(at(6), SessionsEvent::TimedOut);
    assert_eq!(session(&state_machine.next(at(6))), (1, 1, "a"));
    state_machine.on_event(at(7), failed_with(Failure::permanent("gone", "no folder")));

    assert_eq!(failed(&mut state_machine, at(7)), "gone");
}

#[test]
fn reading_the_ledger_is_retried_after_a_retryable_failure() {
    let claim = |ledger| {
        SessionsEvent::Claimed(Ok(Claim {
            queue: "a".to_owned(),
            epoch: Epoch(1),
            ledger: Err(ledger),
        }))
    };
    let mut state_machine = state_machine();
    let _ = state_machine.next(at(0));

    state_machine.on_event(at(0), claim(Failure::retryable("io", "busy")));
    assert_eq!(state_machine.next(at(0)), SessionsStep::Timer(RETRY_WAIT));
    state_machine.on_event(at(5), SessionsEvent::TimedOut);
    assert!(matches!(
        state_machine.next(at(5)),
        SessionsStep::ReadLedger(_)
    ));
    let corrupt = Failure::permanent("corrupt", "no ledger");
    state_machine.on_event(at(5), SessionsEvent::LedgerRead(Ok(Err(corrupt))));

    assert_eq!(failed(&mut state_machine, at(5)), "corrupt");
}

#[test]
fn a_run_without_a_claiming_host_has_failed() {
    let mut state_machine = state_machine();
    let _ = state_machine.next(at(0));

    let error = Failure::permanent("unclaimed", "no folder");
    state_machine.on_event(at(1), SessionsEvent::Claimed(Err(error)));

    assert_eq!(failed(&mut state_machine, at(1)), "unclaimed");
}

#[test]
fn a_wait_for_quota_is_a_timer_and_the_ledger_is_read_after_it() {
    let mut limits = autonoe_core::run::RunLimits::new(Mode::Run);
    limits.on_quota = autonoe_core::OnQuota::Wait;
    let mut state_machine = SessionsMachine::new(begin(limits, Timeouts::default()));
    let _ = state_machine.next(at(0));
    state_machine.on_event(at(0), claimed("a", 1));
    let _ = state_machine.next(at(0));
    let mut result = SessionReport::completed();
    result.end = SessionEnd::Outcome(SessionOutcome::QuotaExceeded {
        message: "limit".to_owned(),
        resets_at: Some(at(3600)),
    });
    let outcome = HostedOutcome::new(result, Ok(ledger(2, 0)));

    state_machine.on_event(
        at(10),
        SessionsEvent::Answered(Ok(SessionAnswer::Ended(Box::new(outcome)))),
    );
    assert_eq!(
        state_machine.next(at(10)),
        SessionsStep::Timer(Duration::from_secs(3590))
    );
    // A timer that fires too early is not the end of the wait.
    state_machine.on_event(at(3599), SessionsEvent::TimedOut);
    assert_eq!(
        state_machine.next(at(3599)),
        SessionsStep::Timer(Duration::from_secs(1))
    );
    state_machine.on_event(at(3600), SessionsEvent::TimedOut);
    assert!(matches!(
        state_machine.next(at(3600)),
        SessionsStep::ReadLedger(_)
    ));
    state_machine.on_event(at(3601), SessionsEvent::LedgerRead(Ok(Ok(ledger(2, 2)))));

    // The rest was done by others.
    assert_eq!(
        finished(&mut state_machine, at(3601)).exit,
        ExitReason::AllPassed
    );
}
