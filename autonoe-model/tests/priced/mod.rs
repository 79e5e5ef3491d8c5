//! Tests of prices for backends that report tokens but no costs.

use std::sync::{Arc, Mutex};

use autonoe_core::agent::{CostTotal, EventCapabilities, HookCoverage, Support, TokenUsage};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{
    AgentClientFactory, Budget, Capabilities, CostUsd, ExitReason, RunControl, RunEvent,
    RunEventKind, RunId, RunObserver, RunReport, SessionRunner, SessionSpec, StreamEvent,
};
use autonoe_model::price::TokenCounts;
use autonoe_model::{PriceTable, PricedBackend};
use autonoe_testkit::{ModelUse, ScriptedBackend, SessionScript, VirtualClock};
use futures::StreamExt;
use serde_json::json;

const MODEL: &str = "gpt-5.5";

fn prices() -> PriceTable {
    serde_json::from_value(json!({
        MODEL: {"input": "5", "output": "30", "cacheRead": "0.5", "longPrompt":
            {"above": 272_000, "price": {"input": "10", "output": "45", "cacheRead": "1"}}},
    }))
    .expect("prices")
}

fn usd(text: &str) -> CostUsd {
    text.parse().expect(text)
}

fn tokens(input: u64, cache_read: u64, output: u64, reasoning: u64) -> TokenUsage {
    TokenUsage {
        input,
        output,
        cache_read,
        reasoning,
        ..TokenUsage::default()
    }
}

/// Returns a backend that reports tokens but no costs, like Codex.
fn silent_on_money(scripts: impl IntoIterator<Item = SessionScript>) -> ScriptedBackend {
    let capabilities = Capabilities::new("codex")
        .with_hooks(HookCoverage::EveryTool)
        .with_sandbox(Support::Yes)
        .with_model(Support::Yes)
        .with_in_process_tools(Support::Yes)
        .with_events(EventCapabilities::default().with_model_calls(Support::Yes));
    let scripts = scripts.into_iter().map(SessionScript::costs_unknown);
    ScriptedBackend::new(scripts).with_capabilities(capabilities)
}

/// Runs one session on `model` and returns its usage reports.
async fn reports(
    script: SessionScript,
    model: Option<&str>,
    counts: TokenCounts,
) -> Vec<(TokenUsage, Option<CostUsd>)> {
    let agents = PricedBackend::new(Arc::new(silent_on_money([script])), prices(), counts);
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    let mut spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
    spec.model = model.map(str::to_owned);
    let mut client = agents.create(spec).expect("a client");
    let events: Vec<_> = client.query("go".into()).collect().await;
    client.dispose().await.expect("it is released");
    events
        .into_iter()
        .filter_map(|item| match item.expect("no error") {
            StreamEvent::Usage { tokens, cost, .. } => Some((tokens, cost)),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn missing_costs_are_added_and_reported_ones_stay() {
    let script = SessionScript::new("work")
        .uses_tokens(tokens(80, 20, 7, 3), None)
        .uses_tokens(tokens(300_000, 0, 100, 0), None)
        .uses_tokens(tokens(80, 20, 7, 3), Some(usd("0.5")))
        .uses_tokens(tokens(0, 0, 0, 0), None)
        .ends();

    let reported = reports(script, Some(MODEL), TokenCounts::EachCall).await;

    assert_eq!(
        reported,
        [
            (tokens(80, 20, 7, 3), Some(usd("0.00071"))),
            (tokens(300_000, 0, 100, 0), Some(usd("3.0045"))),
            (tokens(80, 20, 7, 3), Some(usd("0.5"))),
            (tokens(0, 0, 0, 0), None),
        ]
    );
}

#[tokio::test]
async fn cost_without_a_known_price_is_unknown() {
    for model in [None, Some("auto"), Some("gpt-7")] {
        let script = SessionScript::new("work")
            .uses_tokens(tokens(80, 20, 7, 3), None)
            .ends();

        let reported = reports(script, model, TokenCounts::EachCall).await;

        assert_eq!(reported, [(tokens(80, 20, 7, 3), None)], "{model:?}");
    }
}

#[tokio::test]
async fn partial_tokens_cost_at_least_so_much_and_an_unknown_amount_beside_it() {
    // Two calls of one turn in one report: it is unknown whether a prompt was long.
    let script = SessionScript::new("work")
        .uses_tokens(tokens(400_000, 0, 1_000, 0), None)
        .ends();

    let reported = reports(script, Some(MODEL), TokenCounts::Partial).await;

    assert_eq!(
        reported,
        [
            (tokens(400_000, 0, 1_000, 0), Some(usd("0.23"))),
            (TokenUsage::default(), None),
        ]
    );
}

/// Runs two sessions with the cost budget `max`, and returns the costs of their model calls.
async fn run(
    scripts: [SessionScript; 2],
    make: impl FnOnce(Arc<dyn AgentClientFactory>) -> PricedBackend,
    max: Option<&str>,
) -> (RunReport, Vec<Option<CostUsd>>) {
    let scripted = Arc::new(silent_on_money(scripts).unverified());
    let calls: Arc<Mutex<Vec<Option<CostUsd>>>> = Arc::default();
    let keep = calls.clone();
    let observer: Arc<dyn RunObserver> = Arc::new(move |event: &RunEvent<'_>| {
        if let RunEventKind::ModelEnded { answer } = &event.kind {
            keep.lock().expect("not poisoned").push(answer.cost);
        }
    });
    let texts = FixedInstructions::new([
        (InstructionName::Initializer, "Plan."),
        (InstructionName::Coding, "Build."),
    ]);
    let builder = SessionRunner::builder("/srv/project")
        .agents(Arc::new(make(scripted)))
        .repository(Arc::new(MemoryRepository::new()))
        .instructions(Arc::new(texts))
        .observer(observer)
        .clock(Arc::new(VirtualClock::new()));
    let builder = match max {
        Some(max) => builder.budget(Budget::default().with_cost(usd(max))),
        None => builder,
    };
    let report = builder
        .build()
        .expect("the parts fit")
        .run(&RunControl::new())
        .await;
    let calls = calls.lock().expect("not poisoned").clone();
    (report, calls)
}

fn call(input: u64, output: u64) -> ModelUse {
    ModelUse::new(MODEL, "done").using(tokens(input, 0, output, 0), None)
}

fn sessions() -> [SessionScript; 2] {
    let create = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    let pass = json!({"deliverableId": "DL-001", "status": "passed"});
    [
        SessionScript::new("plan")
            .calls_model(call(100_000, 0))
            .uses_tool("mcp__autonoe__create", create)
            .ends(),
        SessionScript::new("build")
            .calls_model(call(0, 50_000))
            .uses_tool("mcp__autonoe__set_status", pass)
            .ends(),
    ]
}

fn each_call(inner: Arc<dyn AgentClientFactory>) -> PricedBackend {
    PricedBackend::new(inner, prices(), TokenCounts::EachCall).for_model(MODEL)
}

#[tokio::test(start_paused = true)]
async fn run_without_reported_costs_gets_calculated_costs() {
    let (report, calls) = run(sessions(), each_call, Some("3")).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(report.cost, CostTotal::known(usd("2")));
    assert_eq!(calls, [Some(usd("0.5")), Some(usd("1.5"))]);
}

#[tokio::test(start_paused = true)]
async fn a_money_budget_ends_a_run_by_estimated_prices() {
    let (report, calls) = run(sessions(), each_call, Some("0.5")).await;

    assert!(
        matches!(report.exit, ExitReason::BudgetExceeded { .. }),
        "{:?}",
        report.exit
    );
    assert_eq!(calls, [Some(usd("0.5"))]);
}

#[tokio::test(start_paused = true)]
async fn a_money_budget_is_refused_where_a_price_or_the_tokens_are_not_known() {
    type Make = fn(Arc<dyn AgentClientFactory>) -> PricedBackend;
    let cases: [(&str, Make); 3] = [
        ("the model of the backend is not known", |inner| {
            PricedBackend::new(inner, prices(), TokenCounts::EachCall)
        }),
        ("its model has no price", |inner| {
            each_call(inner).for_model("gpt-7")
        }),
        ("its tokens are partial", |inner| {
            PricedBackend::new(inner, prices(), TokenCounts::Partial).for_model(MODEL)
        }),
    ];
    for (case, make) in cases {
        let (report, calls) = run(sessions(), make, Some("5")).await;

        let ExitReason::Failed { error } = &report.exit else {
            panic!("{case}: {:?}", report.exit);
        };
        assert_eq!(error.code, "cost_not_reported", "{case}");
        assert_eq!(calls, [], "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn partial_token_counts_give_a_minimum_cost() {
    let partial =
        |inner| PricedBackend::new(inner, prices(), TokenCounts::Partial).for_model(MODEL);

    let (report, calls) = run(sessions(), partial, None).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(report.cost.known_usd, usd("1.55"));
    assert_eq!(report.cost.unknown_parts, 2);
    assert_eq!(calls, [None, None]);
}

#[tokio::test]
async fn models_are_distinguished_and_reported_costs_are_used() {
    let codex = each_call(Arc::new(silent_on_money([])));
    let claims = codex.probe().await.expect("it is there");
    assert_eq!(claims.cost, Support::Yes);
    assert_eq!(codex.cost_of(MODEL), Some(Support::Yes));
    assert_eq!(codex.cost_of("gpt-7"), Some(Support::No));

    // Claude Code reports costs itself, whatever prices are known.
    let claude = each_call(Arc::new(ScriptedBackend::new([])));
    assert_eq!(
        claude.probe().await.expect("it is there").cost,
        Support::Yes
    );
    assert_eq!(claude.cost_of("gpt-7"), None);
}
