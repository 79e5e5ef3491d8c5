//! Tests of the state machine: each rule of the specification, and all of them in a simulation with
//! faults.

mod ending;
mod instructions;
mod rules;
mod simulation;

use autonoe_core::agent::{CostTotal, SessionReport};
use autonoe_core::engine::HostedOutcome;
use autonoe_core::ledger::{LedgerCounts, LedgerView};
use autonoe_core::run::RunLimits;
use autonoe_core::time::Epoch;
use autonoe_core::{CostUsd, Mode, RunId};
use jiff::Timestamp;
use serde_json::json;

use super::super::SessionsRun;
use super::super::activities::{Claim, SessionAnswer};
use super::super::input::SessionsInput;
use super::{SessionsEvent, SessionsMachine, SessionsStep};
use crate::Timeouts;

/// The time after `second` seconds of the run.
fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + second).expect("in range")
}

fn begin(limits: RunLimits, timeouts: Timeouts) -> SessionsInput {
    let sessions = SessionsRun::new(json!({"folder": "shop"}), limits);
    SessionsInput {
        run: sessions.to_spec(RunId::new("shop")).expect("it is JSON"),
        sessions,
        host_queue: None,
        timeouts,
        carried: None,
    }
}

/// A state machine without events.
fn state_machine() -> SessionsMachine {
    let limits = RunLimits {
        pause: std::time::Duration::ZERO,
        ..RunLimits::new(Mode::Run)
    };
    SessionsMachine::new(begin(limits, Timeouts::default()))
}

fn ledger(total: usize, passed: usize) -> LedgerView {
    LedgerView {
        counts: LedgerCounts {
            total,
            passed,
            ..LedgerCounts::default()
        },
        verified: 0,
    }
}

/// A claim of a host with an epoch and two deliverables.
fn claimed(host: &str, epoch: u64) -> SessionsEvent {
    SessionsEvent::Claimed(Ok(Claim {
        queue: host.to_owned(),
        epoch: Epoch(epoch),
        ledger: Ok(ledger(2, 0)),
    }))
}

/// A successful session.
fn ended(passed: usize) -> SessionsEvent {
    let mut result = SessionReport::completed();
    result.cost = CostTotal::known(CostUsd::from_cents(5));
    let outcome = HostedOutcome::new(result, Ok(ledger(2, passed)));
    SessionsEvent::Answered(Ok(SessionAnswer::Ended(Box::new(outcome))))
}

/// Returns the number, the epoch and the host of the requested session.
fn session(step: &SessionsStep) -> (u32, u64, &str) {
    let SessionsStep::Session(host, call) = step else {
        panic!("{step:?}");
    };
    (call.number, call.epoch.0, &host.queue)
}
