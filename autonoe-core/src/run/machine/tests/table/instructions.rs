//! Appendix A.1, instruction selection.

use super::*;

// Shows: spec/a.1/four-rows
// Shows: interfaces/session-runner/selector
#[test]
fn the_table() {
    for (mode, ledger, planned, expected) in [
        (
            Mode::Run,
            LedgerView::default(),
            false,
            InstructionName::Initializer,
        ),
        (Mode::Run, ledger(1, 0, 0), false, InstructionName::Coding),
        (
            Mode::Sync,
            LedgerView::default(),
            false,
            InstructionName::Sync,
        ),
        (Mode::Sync, ledger(1, 0, 0), false, InstructionName::Sync),
        (Mode::Sync, ledger(1, 0, 0), true, InstructionName::Verify),
    ] {
        assert_eq!(Workflow::new(mode).instruction(&ledger, planned), expected);
    }
}
