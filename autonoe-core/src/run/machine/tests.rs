//! Tests of the specification's decision tables, row by row, and of properties of every run.

mod properties;
mod table;

use std::time::Duration;

use jiff::Timestamp;

use super::*;
use crate::agent::{Activity, CostUsd, SessionEnd, SessionOutcome, SessionProgress};
use crate::ledger::LedgerCounts;
use crate::time::Mode;

/// Returns the time `second` seconds after the start of the run.
fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + second).expect("in range")
}

fn ledger(total: usize, passed: usize, blocked: usize) -> LedgerView {
    LedgerView {
        counts: LedgerCounts {
            total,
            passed,
            blocked,
            deprecated: 0,
        },
        verified: 0,
    }
}

fn verified(total: usize, verified: usize) -> LedgerView {
    LedgerView {
        verified,
        ..ledger(total, 0, 0)
    }
}

fn deprecated(count: usize) -> LedgerView {
    LedgerView {
        counts: LedgerCounts {
            deprecated: count,
            ..LedgerCounts::default()
        },
        verified: 0,
    }
}

fn limits(mode: Mode) -> RunLimits {
    RunLimits {
        pause: Duration::ZERO,
        ..RunLimits::new(mode)
    }
}

fn started(limits: RunLimits, ledger: LedgerView) -> (RunMachine, RunAction) {
    let mut machine = RunMachine::new(limits);
    let action = machine.apply(RunFact::Started { at: at(0), ledger });
    (machine, action)
}

fn result(outcome: SessionOutcome) -> SessionReport {
    SessionReport {
        activity: Activity::Some,
        cost: CostTotal::known(CostUsd::ZERO),
        ..SessionReport::new(SessionEnd::Outcome(outcome))
    }
}

fn completed() -> SessionReport {
    result(SessionOutcome::Completed)
}

fn execution_error() -> SessionReport {
    result(SessionOutcome::ExecutionError {
        messages: vec!["it broke".into()],
    })
}

fn quota(resets_at: Option<Timestamp>) -> SessionReport {
    result(SessionOutcome::QuotaExceeded {
        message: "limit".into(),
        resets_at,
    })
}

fn failed(error: Failure) -> SessionReport {
    SessionReport::new(SessionEnd::Failed { error })
}

/// Returns a session that changed nothing.
fn stalled(result: SessionReport) -> SessionReport {
    SessionReport {
        progress: SessionProgress::None,
        ..result
    }
}

/// Ends the session that `action` started, one second after it began.
fn end(
    machine: &mut RunMachine,
    action: &RunAction,
    result: SessionReport,
    ledger: LedgerView,
) -> RunAction {
    let RunAction::StartSession(plan) = action else {
        panic!("no session: {action:?}")
    };
    let number = plan.number;
    machine.apply(RunFact::SessionEnded {
        at: at(1),
        number,
        result,
        ledger: Ok(ledger),
    })
}

fn instruction(action: &RunAction) -> &InstructionName {
    match action {
        RunAction::StartSession(plan) => &plan.instruction,
        other => panic!("no session: {other:?}"),
    }
}

fn exit(action: &RunAction) -> &ExitReason {
    match action {
        RunAction::Finish { exit } => exit,
        other => panic!("the run continues: {other:?}"),
    }
}

fn finish(exit: ExitReason) -> RunAction {
    RunAction::Finish { exit }
}

/// Applies the end of the wait with an unchanged ledger.
fn wait_over(machine: &mut RunMachine, at: Timestamp) -> RunAction {
    let ledger = Ok(machine.ledger());
    machine.apply(RunFact::WaitOver { at, ledger })
}

/// Applies the operator's resume with an unchanged ledger.
fn resume(machine: &mut RunMachine, at: Timestamp) -> RunAction {
    let ledger = Ok(machine.ledger());
    machine.apply(RunFact::ResumeRequested { at, ledger })
}
