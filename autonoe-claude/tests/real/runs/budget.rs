//! Budgets of money and tokens that are spent.

use autonoe_core::agent::{BudgetKind, SessionOutcome};
use autonoe_core::run::Models;
use autonoe_core::{Budget, CostUsd, ExitReason, StreamEvent};
use autonoe_testkit::model_server::anthropic::{ModelScript, ScriptedMessage, Turn, Usage};
use serde_json::json;

use super::{planning, run_in, run_planned_in, status_on_disk};
use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, collect_events};

/// A model with a fixed price: 15 dollars for a million output tokens.
const MODEL: &str = "claude-sonnet-4-5-20250929";

/// Returns a command that costs sixty cents.
fn expensive(command: &str) -> Turn {
    let input = json!({"command": command, "description": "as the script says"});
    let message = ScriptedMessage::new().uses_tool("Bash", input);
    message.with_usage(Usage::new(10, 40_000)).into()
}

async fn a_session_ends_when_its_budget_is_spent(build: Build) {
    let script = ModelScript::new([expensive("echo 1 > one")]);
    let fixture = Fixture::new(build, script);
    let mut spec = fixture.spec([]);
    spec.model = Some(MODEL.into());
    spec.budget = Budget::default().with_cost(CostUsd::from_cents(50));
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Spend it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let Some(StreamEvent::End { outcome, cost, .. }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(*outcome, SessionOutcome::BudgetExceeded);
    assert!(
        cost.is_some_and(|cost| cost >= CostUsd::from_cents(60)),
        "{cost:?}"
    );
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

async fn a_run_ends_when_the_rest_of_its_budget_is_spent(build: Build) {
    let [plan, _] = planning();
    let planned = ScriptedMessage::new()
        .says("It is planned.")
        .with_usage(Usage::new(10, 40_000));
    // Neither session alone would spend a dollar, and there is no third turn.
    let script = ModelScript::new([plan, planned.into(), expensive("echo 1 > one")]);
    let fixture = Fixture::new(build, script);

    let run = run_in(&fixture).configure(|runner| {
        let budget = Budget::default().with_cost(CostUsd::from_cents(100));
        runner.models(Models::all(MODEL)).budget(budget)
    });
    let (report, ended) = run.run().await;

    let spent = ExitReason::BudgetExceeded {
        budget: BudgetKind::Cost,
    };
    assert_eq!(report.exit, spent, "{report} {ended:?}");
    assert_eq!(report.sessions, 2);
    assert!(
        report.cost.exact() >= Some(CostUsd::from_cents(120)),
        "{report}"
    );
    assert_eq!(status_on_disk(&fixture.project())["passed"], false);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

async fn a_run_ends_when_its_tokens_are_spent(build: Build) {
    let script = [
        expensive("echo 1 > one"),
        Turn::text("There is more to do."),
    ];
    let fixture = Fixture::new(build, ModelScript::new(script));

    let run = run_planned_in(&fixture)
        .configure(|runner| runner.budget(Budget::default().with_tokens(30_000)));
    let (report, ended) = run.run().await;

    let spent = ExitReason::BudgetExceeded {
        budget: BudgetKind::Tokens,
    };
    assert_eq!(report.exit, spent, "{report} {ended:?}");
    assert_eq!(report.sessions, 1);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

on_newer_build![
    a_session_ends_when_its_budget_is_spent,
    a_run_ends_when_the_rest_of_its_budget_is_spent,
    a_run_ends_when_its_tokens_are_spent,
];
