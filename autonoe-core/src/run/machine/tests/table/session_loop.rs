//! Specification 9.1: session loop behaviour.

use super::*;

#[test]
fn no_status_any_limit_uses_the_initializer() {
    for max_iterations in [None, Some(5)] {
        let limits = RunLimits {
            max_iterations,
            ..limits(Mode::Run)
        };

        let (_, action) = started(limits, LedgerView::default());

        assert_eq!(instruction(&action), &InstructionName::Initializer);
    }
}

// Shows: spec/9.1/none-passed-any, spec/9.6/not-passed-no
#[test]
fn none_passed_codes() {
    let (_, action) = started(limits(Mode::Run), ledger(3, 0, 0));

    assert_eq!(instruction(&action), &InstructionName::Coding);
}

// Shows: spec/9.1/partly-passed-any
#[test]
fn partly_passed_codes() {
    let (_, action) = started(limits(Mode::Run), ledger(3, 1, 1));

    assert_eq!(instruction(&action), &InstructionName::Coding);
}

// Shows: spec/9.1/all-passed-any, spec/9.6/passed-no
#[test]
fn all_passed_already_ends_with_no_session_and_no_cost() {
    let (machine, action) = started(limits(Mode::Run), ledger(3, 3, 0));

    assert_eq!(exit(&action), &ExitReason::AllPassed);
    let report = machine.report(&RunId::new("r"), ExitReason::AllPassed, at(0));
    assert_eq!(
        (report.sessions, report.cost.exact()),
        (0, Some(CostUsd::ZERO))
    );
}

// Shows: spec/9.1/any-reached
#[test]
fn the_limit_ends_the_run_in_part() {
    let limits = RunLimits {
        max_iterations: Some(2),
        ..limits(Mode::Run)
    };
    let (mut machine, action) = started(limits, ledger(3, 0, 0));
    let action = end(&mut machine, &action, completed(), ledger(3, 1, 0));

    let last = end(&mut machine, &action, completed(), ledger(3, 2, 0));

    assert_eq!(exit(&last), &ExitReason::MaxIterations);
}

// Shows: interfaces/session-runner/option-max-iterations
#[test]
fn without_a_limit_it_continues_until_all_pass() {
    let (mut machine, mut action) = started(limits(Mode::Run), ledger(50, 0, 0));
    for passed in 1..50 {
        action = end(&mut machine, &action, completed(), ledger(50, passed, 0));
    }

    let last = end(&mut machine, &action, completed(), ledger(50, 50, 0));

    assert_eq!(last, finish(ExitReason::AllPassed));
}
