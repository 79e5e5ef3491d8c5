//! Single sessions for callers with their own loop.

mod control;
mod limits;
mod order;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{HookCoverage, SessionEnd, SessionOutcome, Support};
use autonoe_core::event::{Failure, InstructionName};
use autonoe_core::ledger::LedgerView;
use autonoe_core::run::{FlowExit, SessionRunnerBuilder};
use autonoe_core::session::{FlowStart, OpenSessions};
use autonoe_core::tool::{ToolDescription, ToolStatus};
use autonoe_core::{
    Budget, CostUsd, RunControl, SessionOrder, ToolContext, ToolError, ToolOutput, TypedTool,
};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use serde_json::{Value, json};

use crate::behaviour::support::{Fixture, create, idles};

const MINUTE: Duration = Duration::from_secs(60);

async fn open(builder: SessionRunnerBuilder, control: &RunControl) -> OpenSessions {
    let sessions = builder.build_sessions().expect("parts fit");
    let open = sessions.open(FlowStart::new("review"), control).await;
    open.expect("it begins")
}

fn order(name: &str) -> SessionOrder {
    SessionOrder::new(format!("Do the {name}.")).name(name)
}

/// A tool that accepts any input.
struct Outputs(Mutex<Vec<Value>>);

#[async_trait]
impl TypedTool for Outputs {
    type Input = serde_json::Map<String, Value>;
    fn describe(&self) -> ToolDescription {
        ToolDescription::new("set_outputs", "Sets outputs.")
    }
    async fn run(&self, input: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut inputs = self.0.lock().expect("not poisoned");
        inputs.push(Value::Object(input));
        Ok(ToolOutput::default())
    }
}

fn outputs() -> Arc<dyn autonoe_core::Tool> {
    Outputs(Mutex::default()).into_tool()
}

#[tokio::test(start_paused = true)]
async fn all_sessions_of_a_flow_are_one_tree_of_events() {
    let fixture = Fixture::new([
        SessionScript::new("drafts").says("a draft").ends(),
        SessionScript::new("reviews").says("good").ends(),
    ]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;

    let draft = open.run(order("draft")).await;
    let review = open.run(order("review")).await;
    let report = open.close(FlowExit::Completed, json!({}));

    assert_eq!((draft.number, review.number), (1, 2));
    assert_eq!(
        (draft.answer.as_str(), review.text.as_str()),
        ("a draft", "good")
    );
    assert_eq!((report.sessions, report.exit.is_success()), (2, true));
    assert_eq!(
        fixture.agents.prompts(),
        ["Do the draft.".to_owned(), "Do the review.".to_owned()]
    );
    let events: Vec<String> = fixture
        .log
        .json()
        .iter()
        .filter_map(|event| event["event"].as_str().map(str::to_owned))
        .filter(|event| event.contains("flow") || event.contains("session"))
        .collect();
    assert_eq!(
        events,
        [
            "flow_started",
            "session_started",
            "session_ended",
            "session_started",
            "session_ended",
            "flow_ended"
        ]
    );
    let spans = fixture.log.spans();
    assert!(spans.iter().all(|span| span.trace == spans[0].trace));
    assert!(
        spans
            .iter()
            .skip(1)
            .all(|span| span == &spans[0] || span.parent.is_some())
    );
}

#[tokio::test(start_paused = true)]
async fn the_caller_gets_the_text_and_the_calls_of_the_agent() {
    let fixture = Fixture::new([SessionScript::new("works")
        .thinks("it is done")
        .says("I look.")
        .uses_tool("mcp__autonoe__set_outputs", json!({"a": 1}))
        .is_denied_by(
            "file-scope",
            "Write",
            json!({"file_path": "/etc/passwd", "content": ""}),
        )
        .says("Done.")
        .ends()]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;

    let performed = open.run(order("work").tool(outputs())).await;

    assert!(performed.result.end.is_completed(), "{performed:?}");
    assert_eq!(performed.text, "I look.\n\nDone.");
    assert_eq!(performed.answer, "Done.");
    let calls: Vec<_> = performed
        .tool_calls
        .iter()
        .map(|call| (call.tool.as_str(), call.target.as_deref(), call.status))
        .collect();
    assert_eq!(
        calls,
        [
            ("mcp__autonoe__set_outputs", None, Some(ToolStatus::Ok)),
            ("Write", Some("/etc/passwd"), Some(ToolStatus::Denied)),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn quota_and_blank_prompts_are_reported_to_the_caller() {
    let fixture = Fixture::new([SessionScript::new("turned away").hits_quota(None)]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;

    let quota = open.run(order("work")).await.result.end;
    let blank = open.run(SessionOrder::new(" \n")).await.result.end;

    let SessionEnd::Outcome(SessionOutcome::QuotaExceeded { .. }) = quota else {
        panic!("{quota:?}");
    };
    let SessionEnd::Failed { error } = blank else {
        panic!("{blank:?}");
    };
    assert_eq!(error.code, "instruction_missing");
    // No client was created for the blank one.
    fixture.agents.verify();
}

#[tokio::test(start_paused = true)]
async fn sessions_with_a_repository_have_a_ledger() {
    let fixture = Fixture::new([SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", create(&["A", "B"]))
        .ends()]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;
    assert_eq!(open.ledger().await, Ok(Some(LedgerView::default())));

    open.run(order("plan").deliverable_tools(InstructionName::Initializer))
        .await;

    let view = open
        .ledger()
        .await
        .expect("it is readable")
        .expect("there is one");
    assert_eq!(view.counts.total, 2);
    assert_eq!(open.epoch(), autonoe_core::time::Epoch(1));
}

#[tokio::test(start_paused = true)]
async fn without_a_repository_there_is_neither_a_ledger_nor_a_tool_for_it() {
    let agents = Arc::new(ScriptedBackend::new([idles()]));
    let runner = autonoe_core::SessionRunner::builder("/srv/project")
        .agents(agents.clone())
        .clock(Arc::new(autonoe_testkit::VirtualClock::new()));
    let mut open = open(runner, &RunControl::new()).await;

    open.run(order("plan").deliverable_tools(InstructionName::Initializer))
        .await;

    assert_eq!(open.ledger().await, Ok::<_, Failure>(None));
    assert_eq!(agents.received()[0].tools, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_flow_does_not_start_on_a_backend_that_ignores_its_guards_or_limits() {
    let budget = Budget::default().with_cost(CostUsd::from_cents(1));
    for (hooks, cost, code) in [
        (HookCoverage::Partial, Support::Yes, "guards_not_enforced"),
        (HookCoverage::EveryTool, Support::No, "cost_not_reported"),
    ] {
        let agents = ScriptedBackend::new([]);
        let weak = agents
            .capabilities()
            .clone()
            .with_hooks(hooks)
            .with_cost(cost);
        let fixture = Fixture::with(agents.with_capabilities(weak));
        let sessions = fixture
            .runner()
            .budget(budget)
            .build_sessions()
            .expect("parts fit");

        let refused = sessions
            .open(FlowStart::new("review"), &RunControl::new())
            .await;

        let report = refused.expect_err("it is refused").report().clone();
        let FlowExit::Failed { error } = &report.exit else {
            panic!("{report:?}");
        };
        assert_eq!(error.code, code);
        let ends = (
            fixture.log.count("flow_started"),
            fixture.log.count("flow_ended"),
        );
        assert_eq!(ends, (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_cancelled_before_its_start_is_interrupted() {
    let fixture = Fixture::new([]);
    let control = RunControl::new();
    control.cancel();
    let sessions = fixture.runner().build_sessions().expect("parts fit");

    let refused = sessions.open(FlowStart::new("review"), &control).await;

    let refused = refused.expect_err("it was cancelled");
    assert_eq!(refused.report().exit, FlowExit::Interrupted);
    assert_eq!(
        refused.to_string(),
        "the flow review could not start: it was cancelled"
    );
}
