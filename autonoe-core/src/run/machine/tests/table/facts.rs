//! Unexpected facts, and facts with ledger errors.

use super::*;

#[test]
fn a_session_that_was_not_requested_changes_nothing() {
    let (mut machine, _) = started(limits(Mode::Run), ledger(1, 0, 0));
    let before = machine.clone();
    let stray = |number| RunFact::SessionEnded {
        at: at(1),
        number,
        result: completed(),
        ledger: Ok(ledger(1, 1, 0)),
    };

    assert_eq!(machine.apply(stray(7)), RunAction::Continue);
    assert_eq!(wait_over(&mut machine, at(1)), RunAction::Continue);
    let second_start = RunFact::Started {
        at: at(2),
        ledger: ledger(9, 9, 0),
    };
    assert_eq!(machine.apply(second_start), RunAction::Continue);

    assert_eq!(machine, before);
}

#[test]
fn a_wait_that_is_over_too_early_is_not_over() {
    let waits = RunLimits {
        on_quota: OnQuota::Wait,
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(waits, ledger(1, 0, 0));
    let wait = end(
        &mut machine,
        &action,
        quota(Some(at(9000))),
        ledger(1, 0, 0),
    );

    assert_eq!(wait_over(&mut machine, at(8999)), wait);
    assert_eq!(machine.action(), wait);
}

#[test]
fn a_takeover_of_the_ledger_during_a_wait_ends_the_run() {
    let (mut machine, action) = started(RunLimits::new(Mode::Run), ledger(1, 0, 0));
    let _ = end(&mut machine, &action, completed(), ledger(1, 0, 0));
    let error = Failure::permanent("ledger_fenced", "another run has taken over");

    let last = machine.apply(RunFact::WaitOver {
        at: at(60),
        ledger: Err(error.clone()),
    });

    assert_eq!(exit(&last), &ExitReason::Failed { error });
}

#[test]
fn a_quota_is_a_quota_although_the_ledger_cannot_be_read() {
    let (mut machine, _) = started(limits(Mode::Run), ledger(1, 0, 0));

    let last = machine.apply(RunFact::SessionEnded {
        at: at(1),
        number: 1,
        result: quota(None),
        ledger: Err(Failure::retryable("ledger_unavailable", "busy")),
    });

    assert_eq!(exit(&last), &ExitReason::QuotaExceeded);
}

#[test]
fn facts_after_the_end_change_nothing() {
    let (mut machine, action) = started(limits(Mode::Run), ledger(1, 1, 0));

    assert_eq!(machine.apply(RunFact::Cancelled), action);
    assert_eq!(wait_over(&mut machine, at(5)), action);
}
