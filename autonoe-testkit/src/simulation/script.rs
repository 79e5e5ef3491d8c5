//! What the sessions of a run do, and what the run comes to when nothing goes wrong.

use std::time::Duration;

use autonoe_core::{
    CostTotal, CostUsd, ExitReason, LedgerCounts, LedgerView, Mode, OnQuota, ReportedCounts,
    RunAction, RunFact, RunId, RunLimits, RunMachine, RunReport, SessionEnd, SessionOutcome,
    SessionPlan, SessionResult,
};
use jiff::Timestamp;

use super::Random;

/// What the sessions of one run do. The same session does the same whenever it is run.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    seed: u64,
    deliverables: usize,
}

impl Script {
    /// Makes the script of a seed.
    pub fn new(seed: u64) -> Self {
        let deliverables = Random::new(seed).between(2, 5) as usize;
        Self { seed, deliverables }
    }

    /// Returns the run that all hosts work on.
    pub fn run() -> RunId {
        RunId::new("run")
    }

    /// Returns the limits of the run.
    pub fn limits() -> RunLimits {
        RunLimits {
            on_quota: OnQuota::Wait,
            pause: Duration::from_secs(3),
            ..RunLimits::new(Mode::Run)
        }
    }

    /// Returns how long session `number` takes, in milliseconds.
    pub fn takes(self, number: u32) -> u64 {
        self.random(number).between(500, 25_000)
    }

    /// Carries out session `number`, which ends at `at`, on a ledger that is as `before`.
    ///
    /// The work is not idempotent: who does it twice makes two steps.
    pub fn perform(
        self,
        number: u32,
        at: Timestamp,
        before: LedgerView,
    ) -> (SessionResult, LedgerView) {
        let mut after = before;
        let outcome = match self.random(number).next() % 8 {
            0 => SessionOutcome::ExecutionError {
                messages: vec!["it broke".into()],
            },
            1 => SessionOutcome::QuotaExceeded {
                message: "limit".into(),
                resets_at: Some(at + Duration::from_secs(20)),
            },
            kind => {
                work(self.deliverables, kind, &mut after.counts);
                SessionOutcome::Completed
            }
        };
        let mut result = SessionResult::completed();
        result.end = SessionEnd::Outcome(outcome);
        result.cost = CostTotal::known(CostUsd::from_cents(u64::from(number)));
        result.tokens.output = u64::from(number) * 10;
        (result, after)
    }

    /// Runs without any fault.
    pub(super) fn undisturbed(self) -> RunReport {
        self.run_until(None)
    }

    /// Runs without any fault, until it is cancelled: `sessions` have begun, and `told` of them came
    /// to their own end before that was heeded.
    pub(super) fn cancelled(self, sessions: u32, told: u32) -> RunReport {
        self.run_until(Some((sessions, told)))
    }

    fn run_until(self, cancelled: Option<(u32, u32)>) -> RunReport {
        let mut at = Timestamp::UNIX_EPOCH;
        let mut ledger = LedgerView::default();
        let mut machine = RunMachine::new(Self::limits());
        let mut action = match cancelled {
            Some((0, _)) => machine.apply(RunFact::Cancelled),
            _ => machine.apply(RunFact::Started { at, ledger }),
        };
        loop {
            action = match action {
                RunAction::StartSession(SessionPlan { number, .. }) => {
                    let is_last = |(sessions, told)| number >= sessions || number > told;
                    if cancelled.is_some_and(is_last) {
                        let _ = machine.apply(RunFact::Cancelled);
                    }
                    let (result, after) = match cancelled {
                        Some((_, told)) if number > told => {
                            (SessionResult::new(SessionEnd::Cancelled), ledger)
                        }
                        _ => self.perform(number, at, ledger),
                    };
                    ledger = after;
                    machine.apply(RunFact::SessionEnded {
                        at,
                        number,
                        result,
                        ledger: Ok(ledger),
                    })
                }
                RunAction::Wait { until, .. } => {
                    at = until;
                    machine.apply(RunFact::WaitOver {
                        at,
                        ledger: Ok(ledger),
                    })
                }
                RunAction::Finish { exit } => return machine.report(&Self::run(), exit, at),
                other => panic!("nobody asked for {other:?}"),
            };
        }
    }

    fn random(self, number: u32) -> Random {
        Random::new(self.seed ^ (u64::from(number) << 40))
    }
}

fn work(deliverables: usize, kind: u64, counts: &mut LedgerCounts) {
    if counts.is_empty() {
        counts.total = deliverables;
    } else if counts.pending() > 0 && kind == 2 {
        counts.blocked += 1;
    } else if counts.pending() > 0 {
        counts.passed += 1;
    }
}

/// What must be the same whatever happened in between: all but times and unknown costs.
pub(super) fn counts(
    report: &RunReport,
) -> (
    &ExitReason,
    ReportedCounts,
    u32,
    u32,
    CostUsd,
    autonoe_core::TokenUsage,
) {
    let RunReport {
        exit,
        deliverables,
        iterations,
        sessions,
        cost,
        tokens,
        ..
    } = report;
    (
        exit,
        // One run is cancelled before it reads the ledger, another one right after it.
        deliverables.unwrap_or_default(),
        *iterations,
        *sessions,
        cost.known_usd,
        *tokens,
    )
}
