//! Single sessions for callers with a loop of their own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentSessionId, Budget, BudgetKind, CostTotal, CostUsd, Failure, FlowExit, FlowStart, Grants,
    InstructionName, LedgerView, OpenSessions, RunControl, SessionAccess, SessionEnd, SessionOrder,
    SessionOutcome, SessionRunnerBuilder, SessionWait, Support, TokenUsage, ToolContext,
    ToolDescription, ToolError, ToolOutput, ToolStatus, TypedTool, WaitReason, hook_fn,
};
use autonoe_core::{HookCoverage, HookDecision, OuterSandbox};
use autonoe_testkit::{ScriptedAgents, SessionScript};
use serde_json::{Value, json};

use crate::behaviour::support::{Bench, create, idles};

const MINUTE: Duration = Duration::from_secs(60);

async fn open(builder: SessionRunnerBuilder, control: &RunControl) -> OpenSessions {
    let sessions = builder.build_sessions().expect("parts fit");
    let open = sessions.open(FlowStart::new("review"), control).await;
    open.expect("it begins")
}

fn order(name: &str) -> SessionOrder {
    SessionOrder::new(format!("Do the {name}.")).named(name)
}

/// A tool that takes what it is given.
struct Outputs(Mutex<Vec<Value>>);

#[async_trait]
impl TypedTool for Outputs {
    type Input = serde_json::Map<String, Value>;
    fn describe(&self) -> ToolDescription {
        ToolDescription::new("set_outputs", "Sets outputs.")
    }
    async fn run(&self, input: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut taken = self.0.lock().expect("not poisoned");
        taken.push(Value::Object(input));
        Ok(ToolOutput::default())
    }
}

fn outputs() -> Arc<dyn autonoe_core::Tool> {
    Outputs(Mutex::default()).into_tool()
}

#[tokio::test(start_paused = true)]
async fn all_sessions_of_a_flow_are_one_tree_of_events() {
    let bench = Bench::new([
        SessionScript::new("drafts").says("a draft").ends(),
        SessionScript::new("reviews").says("good").ends(),
    ]);
    let mut open = open(bench.runner(), &RunControl::new()).await;

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
        bench.agents.prompts(),
        ["Do the draft.".to_owned(), "Do the review.".to_owned()]
    );
    let told: Vec<String> = bench
        .log
        .json()
        .iter()
        .filter_map(|event| event["event"].as_str().map(str::to_owned))
        .filter(|event| event.contains("flow") || event.contains("session"))
        .collect();
    assert_eq!(
        told,
        [
            "flow_started",
            "session_started",
            "session_ended",
            "session_started",
            "session_ended",
            "flow_ended"
        ]
    );
    let spans = bench.log.spans();
    assert!(spans.iter().all(|span| span.trace == spans[0].trace));
    assert!(
        spans
            .iter()
            .skip(1)
            .all(|span| span == &spans[0] || span.parent.is_some())
    );
}

#[tokio::test(start_paused = true)]
async fn what_an_agent_said_and_called_is_told_to_who_ordered_it() {
    let bench = Bench::new([SessionScript::new("works")
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
    let mut open = open(bench.runner(), &RunControl::new()).await;

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
async fn tools_of_one_session_are_not_those_of_the_next() {
    let bench = Bench::new([idles(), idles(), idles()]);
    let mut open = open(bench.runner(), &RunControl::new()).await;

    open.run(order("work").tool(outputs())).await;
    open.run(order("plan").deliverable_tools(InstructionName::Initializer))
        .await;
    // A step may be called like an instruction; its tools do not come with the name.
    open.run(order("coding")).await;

    let tools: Vec<_> = bench
        .agents
        .received()
        .into_iter()
        .map(|got| got.tools)
        .collect();
    assert_eq!(
        tools,
        [
            vec!["set_outputs".to_owned()],
            vec!["create".to_owned()],
            vec![]
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_whose_name_is_taken_reaches_no_agent() {
    let bench = Bench::new([]);
    let mut open = open(bench.runner().tool(outputs()), &RunControl::new()).await;

    let performed = open.run(order("work").tool(outputs())).await;

    let SessionEnd::Failed { error } = performed.result.end else {
        panic!("it cannot begin: {performed:?}");
    };
    assert_eq!(error.code, "tool_name_taken");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_gone_on_with_where_the_backend_can() {
    let bench = Bench::with(resuming([idles(), idles()]));
    let mut open = open(bench.runner(), &RunControl::new()).await;

    let first = open.run(order("work")).await;
    let conversation = first.result.agent_session.expect("it has a name");
    open.run(order("more").resuming(conversation.clone())).await;

    let resumed: Vec<_> = bench
        .agents
        .received()
        .into_iter()
        .map(|got| got.resume)
        .collect();
    assert_eq!(resumed, [None, Some(conversation)]);
    assert_eq!(bench.log.count("conversation_resumed"), 1);
}

fn resuming(scripts: impl IntoIterator<Item = SessionScript>) -> ScriptedAgents {
    let agents = ScriptedAgents::new(scripts);
    let able = agents.capabilities().clone().with_resume(Support::Yes);
    agents.with_capabilities(able)
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_not_begun_anew_unasked_where_the_backend_cannot_resume() {
    let bench = Bench::new([]);
    let mut open = open(bench.runner(), &RunControl::new()).await;

    let performed = open
        .run(order("more").resuming(AgentSessionId::new("earlier")))
        .await;

    let SessionEnd::Failed { error } = performed.result.end else {
        panic!("it cannot: {performed:?}");
    };
    assert_eq!(error.code, "resume_not_supported");
}

#[tokio::test(start_paused = true)]
async fn a_judge_reads_and_changes_nothing_whatever_hooks_and_grants_say() {
    let bench = Bench::new([SessionScript::new("judges")
        .uses_tool("Read", json!({"file_path": "/srv/project/a"}))
        .is_denied_by(
            "read-only",
            "Write",
            json!({"file_path": "/srv/project/a", "content": ""}),
        )
        .is_denied_by("read-only", "Bash", json!({"command": "ls"}))
        .is_denied_by("read-only", "mcp__other__look", json!({}))
        .uses_tool("mcp__autonoe__set_outputs", json!({}))
        .ends()]);
    let runner = bench
        .runner()
        .hook(hook_fn("lenient", |_, _| HookDecision::Approve));
    let mut open = open(runner, &RunControl::new()).await;
    let access = SessionAccess::ReadOnly(Grants::none().with_tool("Bash").with_tool("Read"));

    let performed = open
        .run(order("check").access(access).tool(outputs()))
        .await;

    assert!(performed.result.end.is_completed(), "{performed:?}");
    bench.agents.verify();
}

#[tokio::test(start_paused = true)]
async fn a_judge_is_not_trusted_to_a_backend_that_asks_about_some_calls_only() {
    let agents = ScriptedAgents::new([]);
    let weak = agents
        .capabilities()
        .clone()
        .with_hooks(HookCoverage::AskedOnly);
    let bench = Bench::with(agents.with_capabilities(weak));
    let sandbox = OuterSandbox {
        name: "a box".to_owned(),
    };
    let mut open = open(bench.runner().outer_sandbox(sandbox), &RunControl::new()).await;

    let performed = open
        .run(order("check").access(SessionAccess::reading()))
        .await;

    let SessionEnd::Failed { error } = performed.result.end else {
        panic!("nothing holds it: {performed:?}");
    };
    assert_eq!(error.code, "guards_not_enforced");
}

#[tokio::test(start_paused = true)]
async fn what_is_granted_to_one_session_replaces_what_the_run_grants() {
    let edit = json!({"file_path": "/srv/project/a", "old_string": "", "new_string": ""});
    let bench = Bench::new([
        SessionScript::new("edits")
            .uses_tool("Edit", edit.clone())
            .ends(),
        SessionScript::new("may not")
            .is_denied_by("grants", "Edit", edit.clone())
            .ends(),
        SessionScript::new("may").uses_tool("Edit", edit).ends(),
    ]);
    let mut open = open(bench.runner(), &RunControl::new()).await;
    let edits = Grants::none().with_tool("Edit(./**)");

    for access in [
        SessionAccess::Usual,
        SessionAccess::Only(Grants::none().with_tool("Read")),
        SessionAccess::Only(edits),
    ] {
        let performed = open.run(order("edit").access(access)).await;
        assert!(performed.result.end.is_completed(), "{performed:?}");
    }

    bench.agents.verify();
}

#[tokio::test(start_paused = true)]
async fn model_and_system_prompt_are_those_of_the_order_or_else_of_the_builder() {
    let bench = Bench::new([idles(), idles()]);
    let runner = bench
        .runner()
        .system_prompt("usual")
        .models(autonoe_core::Models::all("usual-model"));
    let mut open = open(runner, &RunControl::new()).await;

    open.run(order("one")).await;
    open.run(order("two").system_prompt("own").model("own-model"))
        .await;

    let got: Vec<_> = bench
        .agents
        .received()
        .into_iter()
        .map(|got| {
            (
                got.model.unwrap_or_default(),
                got.system_prompt.unwrap_or_default(),
            )
        })
        .collect();
    let pair = |model: &str, prompt: &str| (model.to_owned(), prompt.to_owned());
    assert_eq!(
        got,
        [pair("usual-model", "usual"), pair("own-model", "own")]
    );
}

#[tokio::test(start_paused = true)]
async fn a_budget_holds_over_all_sessions_and_costs_are_exact() {
    let spends = |name: &str, cents| {
        SessionScript::new(name)
            .says("working")
            .costs(CostUsd::from_cents(cents))
            .ends()
    };
    let bench = Bench::new([spends("one", 30), spends("two", 20)]);
    let budget = Budget::default().with_cost(CostUsd::from_cents(50));
    let mut open = open(bench.runner().budget(budget), &RunControl::new()).await;

    open.run(order("one")).await;
    assert_eq!(open.budget_left().cost_usd, Some(CostUsd::from_cents(20)));
    open.run(order("two")).await;
    let third = open.run(order("three")).await;

    let budget = BudgetKind::Cost;
    assert_eq!(third.result.end, SessionEnd::BudgetSpent { budget });
    let report = open.close(FlowExit::BudgetExceeded { budget }, json!({}));
    assert_eq!(report.cost, CostTotal::known(CostUsd::from_cents(50)));
    assert_eq!((report.sessions, bench.log.count("budget_spent")), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_session_has_a_budget_of_its_own_within_that_of_the_flow() {
    let tokens = TokenUsage {
        output: 100,
        ..TokenUsage::default()
    };
    let bench = Bench::new([
        SessionScript::new("talks")
            .uses_tokens(tokens, None)
            .hangs(),
        SessionScript::new("hangs").hangs(),
        SessionScript::new("hangs, too").hangs(),
    ]);
    let runner = bench
        .runner()
        .budget(Budget::default().with_time(MINUTE * 10));
    let mut open = open(runner, &RunControl::new()).await;
    let own = |budget| order("work").budget(budget);

    let ends = [
        open.run(own(Budget::default().with_tokens(100))).await,
        open.run(own(Budget::default().with_time(MINUTE))).await,
        open.run(own(Budget::default().with_time(MINUTE * 60)))
            .await,
    ]
    .map(|performed| performed.result.end);

    let spent = |budget| SessionEnd::BudgetSpent { budget };
    assert_eq!(
        ends,
        [BudgetKind::Tokens, BudgetKind::Time, BudgetKind::Time].map(spent)
    );
    assert_eq!(open.spent().time, MINUTE * 10);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_session_and_nothing_begins_after_it() {
    let bench = Bench::new([SessionScript::new("works").says("working").hangs()]);
    let control = RunControl::new();
    let mut open = open(bench.runner(), &control).await;

    let (performed, ()) = tokio::join!(open.run(order("work")), async {
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    });
    let next = open.run(order("more")).await;

    assert_eq!(performed.result.end, SessionEnd::Cancelled);
    assert_eq!(performed.text, "working");
    assert_eq!(next.result.end, SessionEnd::Cancelled);
    assert_eq!(bench.agents.disposed(), 1);
    let now = jiff::Timestamp::UNIX_EPOCH + Duration::from_secs(u32::MAX.into());
    assert_eq!(
        open.wait(WaitReason::Quota, now).await,
        SessionWait::Cancelled
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_the_flow_before_its_next_session() {
    let bench = Bench::new([idles(), idles()]);
    let control = RunControl::new();
    let mut open = open(bench.runner(), &control).await;
    control.pause();

    let (performed, ()) = tokio::join!(open.run(order("work")), async {
        tokio::time::sleep(MINUTE).await;
        control.resume();
    });

    assert!(performed.result.end.is_completed());
    assert_eq!(open.spent().time, MINUTE);
    assert_eq!(
        (bench.log.count("paused"), bench.log.count("resumed")),
        (1, 1)
    );
    // It is not paused any more.
    assert!(open.run(order("more")).await.result.end.is_completed());
}

#[tokio::test(start_paused = true)]
async fn a_pause_does_not_outlast_the_time_of_the_flow() {
    let bench = Bench::new([]);
    let control = RunControl::new();
    let runner = bench.runner().budget(Budget::default().with_time(MINUTE));
    let mut open = open(runner, &control).await;
    control.pause();

    let performed = open.run(order("work")).await;

    let budget = BudgetKind::Time;
    assert_eq!(performed.result.end, SessionEnd::BudgetSpent { budget });
}

#[tokio::test(start_paused = true)]
async fn what_a_person_says_is_in_the_next_prompt_until_an_agent_has_read_it() {
    let message = "be quick";
    let bench = Bench::new([
        SessionScript::new("breaks off").expects_in_prompt(message),
        SessionScript::new("reads")
            .expects_in_prompt(message)
            .says("yes")
            .ends(),
        idles(),
    ]);
    let control = RunControl::new();
    let mut open = open(bench.runner(), &control).await;
    control.instruct(message);

    let broke_off = open.run(order("one")).await;
    open.run(order("two")).await;
    open.run(order("three")).await;
    control.instruct("too late");
    let report = open.close(FlowExit::Completed, json!({}));

    assert!(matches!(broke_off.result.end, SessionEnd::Failed { .. }));
    let prompts = bench.agents.prompts();
    assert!(
        prompts[1].contains(message) && !prompts[2].contains(message),
        "{prompts:?}"
    );
    assert_eq!(report.undelivered_messages, ["too late"]);
}

#[tokio::test(start_paused = true)]
async fn a_running_session_is_told_where_the_backend_can_be_steered() {
    let agents = ScriptedAgents::new([SessionScript::new("listens")
        .waits(MINUTE * 2)
        .says("ok")
        .ends()]);
    let able = agents.capabilities().clone().with_steering(Support::Yes);
    let bench = Bench::with(agents.with_capabilities(able));
    let control = RunControl::new();
    let mut open = open(bench.runner(), &control).await;

    let ((), _) = tokio::join!(
        async {
            tokio::time::sleep(MINUTE).await;
            control.instruct("be quick");
        },
        open.run(order("work"))
    );

    assert_eq!(bench.agents.received()[0].steered, ["be quick"]);
    assert!(
        open.close(FlowExit::Completed, json!({}))
            .undelivered_messages
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_takes_its_time_and_no_longer_than_the_flow_has() {
    let bench = Bench::new([]);
    let runner = bench
        .runner()
        .budget(Budget::default().with_time(MINUTE * 3));
    let mut open = open(runner, &RunControl::new()).await;
    let begin: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");

    let first = open.wait(WaitReason::RetryAfter, begin + MINUTE).await;
    let second = open.wait(WaitReason::Quota, begin + MINUTE * 60).await;

    assert_eq!((first, second), (SessionWait::Over, SessionWait::TimeIsUp));
    assert_eq!(open.spent().time, MINUTE * 3);
    assert_eq!(
        (
            bench.log.count("wait_started"),
            bench.log.count("wait_ended")
        ),
        (2, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn quota_and_blank_prompts_are_told_and_not_decided_about() {
    let bench = Bench::new([SessionScript::new("turned away").hits_quota(None)]);
    let mut open = open(bench.runner(), &RunControl::new()).await;

    let quota = open.run(order("work")).await.result.end;
    let blank = open.run(SessionOrder::new(" \n")).await.result.end;

    let SessionEnd::Outcome(SessionOutcome::QuotaExceeded { .. }) = quota else {
        panic!("{quota:?}");
    };
    let SessionEnd::Failed { error } = blank else {
        panic!("{blank:?}");
    };
    assert_eq!(error.code, "instruction_missing");
    // The blank one asked for no client.
    bench.agents.verify();
}

#[tokio::test(start_paused = true)]
async fn the_ledger_is_there_when_a_repository_was_given() {
    let bench = Bench::new([SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", create(&["A", "B"]))
        .ends()]);
    let mut open = open(bench.runner(), &RunControl::new()).await;
    assert_eq!(open.ledger().await, Ok(Some(LedgerView::default())));

    open.run(order("plan").deliverable_tools(InstructionName::Initializer))
        .await;

    let view = open
        .ledger()
        .await
        .expect("it is readable")
        .expect("there is one");
    assert_eq!(view.counts.total, 2);
    assert_eq!(open.epoch(), autonoe_core::Epoch(1));
}

#[tokio::test(start_paused = true)]
async fn without_a_repository_there_is_neither_a_ledger_nor_a_tool_for_it() {
    let agents = Arc::new(ScriptedAgents::new([idles()]));
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
async fn a_flow_does_not_begin_where_its_guards_or_limits_are_not_kept() {
    let budget = Budget::default().with_cost(CostUsd::from_cents(1));
    for (hooks, cost, code) in [
        (HookCoverage::AskedOnly, Support::Yes, "guards_not_enforced"),
        (HookCoverage::EveryTool, Support::No, "cost_not_reported"),
    ] {
        let agents = ScriptedAgents::new([]);
        let weak = agents
            .capabilities()
            .clone()
            .with_hooks(hooks)
            .with_cost(cost);
        let bench = Bench::with(agents.with_capabilities(weak));
        let sessions = bench
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
            bench.log.count("flow_started"),
            bench.log.count("flow_ended"),
        );
        assert_eq!(ends, (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_cancelled_before_it_begins_says_so() {
    let bench = Bench::new([]);
    let control = RunControl::new();
    control.cancel();
    let sessions = bench.runner().build_sessions().expect("parts fit");

    let refused = sessions.open(FlowStart::new("review"), &control).await;

    let refused = refused.expect_err("it was cancelled");
    assert_eq!(refused.report().exit, FlowExit::Interrupted);
    assert_eq!(
        refused.to_string(),
        "the flow review could not begin: it was interrupted"
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_waits_for_is_an_unknown_cost() {
    let bench = Bench::new([SessionScript::new("hangs").hangs(), idles()]);
    let control = RunControl::new();
    let mut open = open(bench.runner(), &control).await;
    control.instruct("be quick");

    let dropped = tokio::time::timeout(MINUTE, open.run(order("one"))).await;
    let next = open.run(order("two")).await;

    assert!(dropped.is_err());
    assert_eq!(bench.agents.alive(), 0);
    assert_eq!(next.number, 2);
    assert!(bench.agents.prompts()[1].contains("be quick"));
    assert_eq!(open.spent().cost.unknown_parts, 1);
}
