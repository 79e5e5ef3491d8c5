//! Specification A.1: instruction selection.

use super::*;

// Shows: spec/a.1/four-rows
#[test]
fn selects_instructions_by_the_table() {
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

fn selected(number: u32, name: &str) -> RunFact {
    RunFact::InstructionSelected {
        number,
        instruction: InstructionName::new(name),
    }
}

#[test]
fn a_selected_instruction_replaces_the_planned_one_and_changes_nothing_else() {
    let (mut machine, action) = started(limits(Mode::Run), ledger(1, 0, 0));
    let RunAction::StartSession(mut plan) = action else {
        panic!("no session: {action:?}")
    };
    plan.instruction = InstructionName::new("review");

    // Applied twice, it has the same effect.
    for _ in 0..2 {
        assert_eq!(machine.apply(selected(1, "review")), RunAction::Continue);
        assert_eq!(machine.action(), RunAction::StartSession(plan.clone()));
    }
    let lost = machine.apply(RunFact::SessionLost { number: 1 });

    assert_eq!(lost, RunAction::StartSession(plan));
    let next = end(&mut machine, &lost, completed(), ledger(1, 0, 0));
    assert_eq!(instruction(&next), &InstructionName::Coding);
}

#[test]
fn a_selection_for_another_session_or_for_none_changes_nothing() {
    let (mut machine, action) = started(RunLimits::new(Mode::Run), ledger(1, 0, 0));
    let in_session = machine.clone();
    assert_eq!(machine.apply(selected(2, "review")), RunAction::Continue);
    assert_eq!(machine, in_session);

    let _ = end(&mut machine, &action, completed(), ledger(1, 0, 0));
    let waiting = machine.clone();
    assert_eq!(machine.apply(selected(1, "review")), RunAction::Continue);
    assert_eq!(machine, waiting);
}

#[test]
fn a_session_is_judged_by_its_selected_instruction() {
    // Planned: `sync`. Only a completed `sync` session leads to `verify`.
    for (name, next) in [
        ("sync", InstructionName::Verify),
        ("review", InstructionName::Sync),
    ] {
        let (mut machine, action) = started(limits(Mode::Sync), ledger(1, 0, 0));
        let _ = machine.apply(selected(1, name));

        let after = end(&mut machine, &action, completed(), ledger(1, 0, 0));

        assert_eq!(instruction(&after), &next, "{name}");
    }

    // Planned: `initializer`, which must create deliverables. A review need not.
    let once = RunLimits {
        max_retries: 0,
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(once, LedgerView::default());
    let _ = machine.apply(selected(1, "review"));

    let after = end(&mut machine, &action, completed(), LedgerView::default());

    assert_eq!(instruction(&after), &InstructionName::Initializer);
}
