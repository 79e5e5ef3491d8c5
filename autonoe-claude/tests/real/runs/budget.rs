//! Money and tokens that run out.

use autonoe_core::{Budget, BudgetKind, CostUsd, ExitReason, Models, SessionOutcome, StreamEvent};
use autonoe_testkit::model_server::anthropic::{Message, Script, Turn, Usage};
use serde_json::json;

use super::{planning, run_in, run_planned_in, status_on_disk};
use crate::build::{Build, on_newer_build};
use crate::setting::{Setting, events_of};

/// A model whose price does not change: 15 dollars for a million tokens that it says.
const MODEL: &str = "claude-sonnet-4-5-20250929";

/// A command for sixty cents.
fn expensive(command: &str) -> Turn {
    let input = json!({"command": command, "description": "as the script says"});
    let message = Message::new().uses_tool("Bash", input);
    message.with_usage(Usage::new(10, 40_000)).into()
}

async fn a_session_ends_when_its_budget_is_spent(build: Build) {
    let script = Script::new([expensive("echo 1 > one")]);
    let setting = Setting::new(build, script);
    let mut spec = setting.spec([]);
    spec.model = Some(MODEL.into());
    spec.budget = Budget::default().with_cost(CostUsd::from_cents(50));
    let mut client = setting.client(spec);

    let (events, error) = events_of(client.as_mut(), "Spend it.").await;
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
    setting.server.verify();
    setting.assert_nothing_is_left();
}

async fn a_run_ends_when_what_its_sessions_left_of_its_budget_is_spent(build: Build) {
    let [plan, _] = planning();
    let planned = Message::new()
        .says("It is planned.")
        .with_usage(Usage::new(10, 40_000));
    // Either session alone would not spend a dollar, and nobody asks for a third turn.
    let script = Script::new([plan, planned.into(), expensive("echo 1 > one")]);
    let setting = Setting::new(build, script);

    let run = run_in(&setting).configure(|runner| {
        let budget = Budget::default().with_cost(CostUsd::from_cents(100));
        runner.models(Models::all(MODEL)).budget(budget)
    });
    let (report, ended) = run.until_it_ends().await;

    let spent = ExitReason::BudgetExceeded {
        budget: BudgetKind::Cost,
    };
    assert_eq!(report.exit, spent, "{report} {ended:?}");
    assert_eq!(report.sessions, 2);
    assert!(
        report.cost.exact() >= Some(CostUsd::from_cents(120)),
        "{report}"
    );
    assert_eq!(status_on_disk(&setting.project())["passed"], false);
    setting.server.verify();
    setting.assert_nothing_is_left();
}

async fn a_run_ends_when_its_tokens_are_spent(build: Build) {
    let script = [
        expensive("echo 1 > one"),
        Turn::text("There is more to do."),
    ];
    let setting = Setting::new(build, Script::new(script));

    let run = run_planned_in(&setting)
        .configure(|runner| runner.budget(Budget::default().with_tokens(30_000)));
    let (report, ended) = run.until_it_ends().await;

    let spent = ExitReason::BudgetExceeded {
        budget: BudgetKind::Tokens,
    };
    assert_eq!(report.exit, spent, "{report} {ended:?}");
    assert_eq!(report.sessions, 1);
    setting.server.verify();
    setting.assert_nothing_is_left();
}

on_newer_build![
    a_session_ends_when_its_budget_is_spent,
    a_run_ends_when_what_its_sessions_left_of_its_budget_is_spent,
    a_run_ends_when_its_tokens_are_spent,
];
