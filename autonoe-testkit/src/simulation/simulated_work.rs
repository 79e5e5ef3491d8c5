//! Scripted sessions of a run, and the result of the run without faults.

use std::time::Duration;

use autonoe_core::agent::{CostTotal, SessionEnd, SessionOutcome, SessionReport};
use autonoe_core::ledger::{LedgerCounts, LedgerView};
use autonoe_core::run::{ReportedCounts, RunAction, RunFact, RunLimits, RunMachine, SessionPlan};
use autonoe_core::{CostUsd, ExitReason, Mode, OnQuota, RunId, RunReport};
use jiff::Timestamp;

use super::Random;

/// The work of a run's sessions. A session does the same whenever it is run.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedWork {
    seed: u64,
    deliverables: usize,
}

impl SimulatedWork {
    /// Creates the work of a seed.
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

    /// Returns the duration of session `number`, in milliseconds.
    pub fn duration(self, number: u32) -> u64 {
        self.random(number).between(500, 25_000)
    }

    /// Performs session `number`, which ends at `at`, on the ledger `before`.
    ///
    /// The work is not idempotent: performing it twice makes two steps.
    pub fn perform(
        self,
        number: u32,
        at: Timestamp,
        before: LedgerView,
    ) -> (SessionReport, LedgerView) {
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
        let mut result = SessionReport::completed();
        result.end = SessionEnd::Outcome(outcome);
        result.cost = CostTotal::known(CostUsd::from_cents(u64::from(number)));
        result.tokens.output = u64::from(number) * 10;
        (result, after)
    }

    /// Runs without faults.
    pub(super) fn uninterrupted(self) -> RunReport {
        self.run_until(None)
    }

    /// Runs without faults until it is cancelled: `sessions` have started, and `told` of them ended
    /// by themselves before the cancellation took effect.
    pub(super) fn cancelled(self, sessions: u32, completed: u32) -> RunReport {
        self.run_until(Some((sessions, completed)))
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
                    let is_last = |(sessions, completed)| number >= sessions || number > completed;
                    if cancelled.is_some_and(is_last) {
                        let _ = machine.apply(RunFact::Cancelled);
                    }
                    let (result, after) = match cancelled {
                        Some((_, completed)) if number > completed => {
                            (SessionReport::new(SessionEnd::Cancelled), ledger)
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
                other => panic!("{other:?} was not requested"),
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

/// The results that must not depend on faults: everything except times and unknown costs.
pub(super) fn counts(
    report: &RunReport,
) -> (
    &ExitReason,
    ReportedCounts,
    u32,
    u32,
    CostUsd,
    autonoe_core::agent::TokenUsage,
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
        // One run may be cancelled before it reads the ledger, another one right after it.
        deliverables.unwrap_or_default(),
        *iterations,
        *sessions,
        cost.known_usd,
        *tokens,
    )
}
