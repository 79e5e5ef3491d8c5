//! The rules of the specification, one by one, and all of them in a world that goes wrong.

mod ending;
mod rules;
mod simulation;
mod told;

use autonoe_core::{
    CostTotal, CostUsd, Epoch, HostedOutcome, LedgerCounts, LedgerView, Mode, RunId, RunLimits,
    SessionResult,
};
use jiff::Timestamp;
use serde_json::json;

use super::super::SessionsRun;
use super::super::begin::SessionsBegin;
use super::super::calls::{Claim, SessionAnswer};
use super::{Came, SessionsCourse, Step};
use crate::Pace;

/// The second `second` of the run.
fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + second).expect("in range")
}

fn begin(limits: RunLimits, pace: Pace) -> SessionsBegin {
    let what = SessionsRun::new(json!({"folder": "shop"}), limits);
    SessionsBegin {
        run: what.named(RunId::new("shop")).expect("it is JSON"),
        what,
        host_queue: None,
        pace,
        carried: None,
    }
}

/// A course that nothing has come to.
fn course() -> SessionsCourse {
    let limits = RunLimits {
        pause: std::time::Duration::ZERO,
        ..RunLimits::new(Mode::Run)
    };
    SessionsCourse::of(begin(limits, Pace::default()))
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

/// A claim of a host that names an epoch and finds two deliverables.
fn claimed(host: &str, epoch: u64) -> Came {
    Came::Claimed(Ok(Claim {
        queue: host.to_owned(),
        epoch: Epoch(epoch),
        ledger: Ok(ledger(2, 0)),
    }))
}

/// A session that did its work.
fn ended(passed: usize) -> Came {
    let mut result = SessionResult::completed();
    result.cost = CostTotal::known(CostUsd::from_cents(5));
    let outcome = HostedOutcome::new(result, Ok(ledger(2, passed)));
    Came::Answered(Ok(SessionAnswer::Ended(Box::new(outcome))))
}

/// Returns the number, the epoch and the host of the session that is asked for.
fn session(step: &Step) -> (u32, u64, &str) {
    let Step::Session(host, call) = step else {
        panic!("{step:?}");
    };
    (call.number, call.epoch.0, &host.queue)
}
