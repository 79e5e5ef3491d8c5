//! Specification 9.5: sync behaviour, and the phases of appendix A.

use super::*;

// Shows: spec/8.3/sync-sessions
#[test]
fn the_first_session_is_always_sync_and_the_next_ones_verify() {
    for before in [LedgerView::default(), ledger(2, 2, 0), verified(2, 2)] {
        let (mut machine, action) = started(limits(Mode::Sync), before);
        assert_eq!(instruction(&action), &InstructionName::Sync, "{before:?}");

        let next = end(&mut machine, &action, completed(), verified(3, 2));

        assert_eq!(instruction(&next), &InstructionName::Verify, "{before:?}");
    }
}

#[test]
fn all_verified_ends_the_sync() {
    let (mut machine, action) = started(limits(Mode::Sync), LedgerView::default());
    let action = end(&mut machine, &action, completed(), verified(2, 0));
    let action = end(&mut machine, &action, completed(), verified(2, 1));

    let last = end(&mut machine, &action, completed(), verified(2, 2));

    assert_eq!(exit(&last), &ExitReason::AllVerified);
    let report = machine.report(&RunId::new("r"), ExitReason::AllVerified, at(2));
    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((reported.verified, reported.verified_total), (2, 2));
}

// Shows: beyond/empty-sync
#[test]
fn an_empty_sync_is_an_error_and_never_all_verified() {
    let limits = RunLimits {
        max_retries: 1,
        ..limits(Mode::Sync)
    };
    let (mut machine, action) = started(limits, LedgerView::default());

    let next = end(&mut machine, &action, completed(), LedgerView::default());
    assert_eq!(instruction(&next), &InstructionName::Sync);
    let last = end(&mut machine, &next, completed(), LedgerView::default());

    assert_eq!(exit(&last).code(), "max_retries_exceeded");
}

#[test]
fn an_interrupted_sync_session_is_repeated() {
    let (mut machine, action) = started(limits(Mode::Sync), verified(1, 1));

    let next = end(
        &mut machine,
        &action,
        result(SessionOutcome::MaxTurns),
        verified(2, 2),
    );

    assert_eq!(instruction(&next), &InstructionName::Sync);
}

#[test]
fn a_sync_session_is_repeated_after_a_failure_or_a_quota_stop() {
    let limits = RunLimits {
        on_quota: OnQuota::Wait,
        ..limits(Mode::Sync)
    };
    let (mut machine, action) = started(limits, ledger(1, 0, 0));

    let next = end(&mut machine, &action, execution_error(), ledger(1, 0, 0));
    assert_eq!(instruction(&next), &InstructionName::Sync);
    let wait = end(&mut machine, &next, quota(Some(at(60))), ledger(1, 0, 0));
    assert!(matches!(wait, RunAction::Wait { .. }), "{wait:?}");

    let next = wait_over(&mut machine, at(60));
    assert_eq!(instruction(&next), &InstructionName::Sync);
}
