//! Specification 9.6: deprecated deliverables.

use super::*;

// Shows: spec/3.4/deprecated-ones-excluded, spec/9.6/any-yes
#[test]
fn deprecated_deliverables_are_not_evaluated() {
    let counted = LedgerView {
        counts: LedgerCounts {
            total: 1,
            passed: 1,
            blocked: 0,
            deprecated: 4,
        },
        verified: 0,
    };

    let (_, action) = started(limits(Mode::Run), counted);

    assert_eq!(exit(&action), &ExitReason::AllPassed);
}

// Shows: spec/9.6/any-yes
#[test]
fn a_ledger_with_only_deprecated_ones_is_done() {
    let (_, action) = started(limits(Mode::Run), deprecated(2));
    assert_eq!(exit(&action), &ExitReason::AllPassed);

    let (mut machine, action) = started(limits(Mode::Sync), deprecated(2));
    let last = end(&mut machine, &action, completed(), deprecated(2));
    assert_eq!(exit(&last), &ExitReason::AllVerified);
}
