//! Budgets of cost, tokens and time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{BudgetKind, CostTotal, HookCoverage, Support, TokenReports, TokenUsage};
use autonoe_core::run::Models;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Budget, Capabilities, CostUsd, ExitReason,
    SessionSpec,
};
use autonoe_testkit::{ScriptedBackend, SessionScript};

use crate::behaviour::support::{Fixture, create, idles, plans};

fn tokens(output: u64) -> TokenUsage {
    TokenUsage {
        output,
        ..TokenUsage::default()
    }
}

fn spends(cents: u64, output: u64) -> SessionScript {
    SessionScript::new("spends").uses_tokens(tokens(output), Some(CostUsd::from_cents(cents)))
}

// Shows: interfaces/session-runner/exit-reasons
#[tokio::test(start_paused = true)]
async fn money_that_ends_in_the_middle_stops_the_session_and_the_run() {
    let fixture = Fixture::new([
        plans(&["A"]).costs(CostUsd::from_cents(0)),
        spends(60, 0).says("working").hangs(),
    ]);
    let budget = Budget::default().with_cost(CostUsd::from_cents(50));

    let report = fixture.run(fixture.runner().budget(budget)).await;

    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Cost
        }
    );
    // It did not finish, so more may have been spent than was reported.
    assert_eq!(report.cost, CostTotal::at_least(CostUsd::from_cents(60)));
    assert_eq!(fixture.agents.disposed(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_reports_once_that_its_budget_is_nearly_spent() {
    let costs = |cents| idles().costs(CostUsd::from_cents(cents));
    let planned = plans(&["A"]).costs(CostUsd::from_cents(79));
    let fixture = Fixture::new([planned, costs(1), costs(10), costs(10)]);
    let budget = Budget::default().with_cost(CostUsd::from_cents(100));

    let report = fixture.run(fixture.runner().budget(budget)).await;

    let budget = BudgetKind::Cost;
    assert_eq!(report.exit, ExitReason::BudgetExceeded { budget });
    let counts = ["budget_nearly_spent", "budget_spent"].map(|name| fixture.log.count(name));
    assert_eq!(counts, [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn tokens_that_end_in_the_middle_stop_the_session_and_the_run() {
    let planned = SessionScript::new("plans")
        .uses_tokens(tokens(1), None)
        .uses_tool("mcp__autonoe__create", create(&["A"]))
        .ends();
    let fixture = Fixture::new([planned, spends(0, 999).hangs()]);

    let report = fixture
        .run(fixture.runner().budget(Budget::default().with_tokens(999)))
        .await;

    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Tokens
        }
    );
    assert_eq!(report.tokens.total(), 1000);
}

#[tokio::test(start_paused = true)]
async fn time_that_ends_in_the_middle_stops_the_session_and_the_run() {
    let fixture = Fixture::new([plans(&["A"]), SessionScript::new("takes long").hangs()]);
    let ten_minutes = Duration::from_secs(600);
    let budget = Budget::default().with_time(ten_minutes);

    let report = fixture.run(fixture.runner().budget(budget)).await;

    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Time
        }
    );
    assert_eq!(report.elapsed, ten_minutes);
}

#[tokio::test(start_paused = true)]
async fn no_session_starts_once_the_budget_is_spent() {
    let fixture = Fixture::new([
        plans(&["A"]).costs(CostUsd::ZERO),
        idles().costs(CostUsd::ZERO),
    ]);
    let budget = Budget::default().with_time(Duration::from_secs(4));

    // Two sessions and a pause fit into four seconds; the second pause does not.
    let report = fixture.run(fixture.runner().budget(budget)).await;

    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Time
        }
    );
    assert_eq!(report.sessions, 2);
}

#[tokio::test(start_paused = true)]
async fn a_cost_budget_needs_a_backend_that_reports_its_cost() {
    let silent = Capabilities::new("tight-lipped")
        .with_hooks(HookCoverage::EveryTool)
        .with_sandbox(Support::Yes)
        .with_in_process_tools(Support::Yes);
    let fixture = Fixture::with(ScriptedBackend::new([]).with_capabilities(silent));
    let budget = Budget::default().with_cost(CostUsd::from_cents(50));

    let report = fixture.run(fixture.runner().budget(budget)).await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("it started: {report:?}")
    };
    assert_eq!(error.code, "cost_not_reported");
}

/// Scripted agents that know the cost of only one model.
struct OnePrice(ScriptedBackend);

#[async_trait]
impl AgentClientFactory for OnePrice {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.0.probe().await
    }

    fn cost_of(&self, model: &str) -> Option<Support> {
        Some(match model {
            "priced" => Support::Yes,
            _ => Support::No,
        })
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.0.create(spec)
    }
}

#[tokio::test(start_paused = true)]
async fn a_cost_budget_needs_the_cost_of_the_model_of_every_phase() {
    let planned_by = |model: &str| Models {
        planning: Some(model.to_owned()),
        implementation: Some("priced".to_owned()),
    };
    for (models, budget, starts) in [
        (planned_by("priced"), Some(50), true),
        (planned_by("unheard-of"), Some(50), false),
        (planned_by("unheard-of"), None, true),
    ] {
        let script = starts.then(|| plans(&["A"]).costs(CostUsd::from_cents(60)));
        let agents = Arc::new(OnePrice(ScriptedBackend::new(script)));
        let fixture = Fixture::new([]);
        let mut runner = fixture.runner().agents(agents).models(models.clone());
        runner = runner.max_iterations(1);
        if let Some(cents) = budget {
            runner = runner.budget(Budget::default().with_cost(CostUsd::from_cents(cents)));
        }

        let report = fixture.run(runner).await;

        assert_eq!(report.sessions, u32::from(starts), "{models:?}: {report:?}");
        let ExitReason::Failed { error } = &report.exit else {
            assert!(starts, "it started: {report:?}");
            continue;
        };
        assert_eq!(error.code, "cost_not_reported");
        assert!(error.message.contains("the model unheard-of"), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_budget_needs_a_backend_that_reports_tokens() {
    let silent = ScriptedBackend::new([])
        .capabilities()
        .clone()
        .with_tokens(TokenReports::None);
    let fixture = Fixture::with(ScriptedBackend::new([]).with_capabilities(silent));

    let runner = fixture.runner().budget(Budget::default().with_tokens(1000));
    let report = fixture.run(runner).await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("it started: {report:?}")
    };
    assert_eq!(error.code, "tokens_not_reported");
    assert_eq!(report.sessions, 0);
}

#[tokio::test(start_paused = true)]
async fn a_token_budget_fails_on_sessions_that_do_not_report_tokens() {
    let fixture = Fixture::new([plans(&["A"])]);

    let runner = fixture.runner().budget(Budget::default().with_tokens(1000));
    let report = fixture.run(runner).await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("it continued: {report:?}")
    };
    assert_eq!(error.code, "tokens_not_reported");
    assert_eq!(report.sessions, 1);
}
