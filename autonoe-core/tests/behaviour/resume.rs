//! Resumed runs.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::Support;
use autonoe_core::ledger::LedgerView;
use autonoe_core::run::{JournalLine, LimitOverrides, RecordedRun, RunFact, RunLimits, RunMachine};
use autonoe_core::time::Epoch;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Budget, Capabilities, CostUsd, ExitReason, Mode,
    RunControl, RunId, SessionSpec,
};
use autonoe_testkit::ScriptedBackend;
use jiff::Timestamp;

use crate::behaviour::support::Fixture;

/// Backend whose probe cancels the run.
struct CancelledMeanwhile {
    agents: Arc<ScriptedBackend>,
    control: RunControl,
}

#[async_trait]
impl AgentClientFactory for CancelledMeanwhile {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.control.cancel();
        self.agents.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.agents.create(spec)
    }
}

/// Returns a run that was interrupted in its first session.
fn interrupted() -> RecordedRun {
    let limits = RunLimits::new(Mode::Run);
    let fact = RunFact::Started {
        at: Timestamp::UNIX_EPOCH,
        ledger: LedgerView::default(),
    };
    let action = RunMachine::new(limits.clone()).apply(fact.clone());
    let lines = [
        JournalLine::RunStarted {
            limits,
            epoch: Epoch(1),
        },
        JournalLine::Fact { fact, action },
    ];
    RecordedRun::replay(RunId::new("run"), &lines).expect("it did not end")
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_while_it_resumes_is_interrupted() {
    let fixture = Fixture::new([]);
    let control = RunControl::new();
    let agents = CancelledMeanwhile {
        agents: fixture.agents.clone(),
        control: control.clone(),
    };
    let runner = fixture.runner().agents(Arc::new(agents)).build();

    let report = runner
        .expect("parts fit")
        .resume(interrupted(), &control)
        .await;

    assert_eq!(report.exit, ExitReason::Interrupted);
}

// Shows: beyond/mode-run-stays
#[tokio::test(start_paused = true)]
async fn resuming_a_run_as_a_sync_is_refused_before_any_session() {
    let fixture = Fixture::new([]);
    let runner = fixture.runner().mode(Mode::Sync).build();

    let report = runner
        .expect("parts fit")
        .resume(interrupted(), &RunControl::new())
        .await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}");
    };
    assert_eq!(error.code, "wrong_mode");
    assert_eq!(error.message, "a run cannot be resumed as a sync");
    assert_eq!(fixture.agents.disposed(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_new_cost_limit_needs_a_backend_that_reports_its_cost() {
    let agents = ScriptedBackend::new([]);
    let unpriced = agents.capabilities().clone().with_cost(Support::No);
    let fixture = Fixture::with(agents.with_capabilities(unpriced));
    let runner = fixture.runner().build();
    let overrides = LimitOverrides {
        budget: Budget::default().with_cost(CostUsd::from_cents(200)),
        ..LimitOverrides::default()
    };

    let report = runner
        .expect("parts fit")
        .resume(interrupted().with_limits(overrides), &RunControl::new())
        .await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}");
    };
    assert_eq!(error.code, "cost_not_reported");
}
