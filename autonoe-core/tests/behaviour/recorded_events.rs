//! Events that were written down and are told again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_core::{
    AgentSessionId, BudgetKind, CostUsd, DeliverableId, Delivery, Events, ExitReason, Failure,
    FlowReport, ForeignChange, ForeignLedger, GateDecision, InstructionName, Ledger, Mode,
    ModelAnswer, ModelAsked, ModelMessages, ModelPart, RecordedEvent, RunEvent, RunEventKind,
    RunId, RunLimits, RunMachine, SeededIds, SessionEnd, SessionOutcome, SessionResult,
    StatusChange, StreamEvent, SystemClock, TokenUsage, ToolCall, ToolExecution, ToolStatus,
    WaitReason, schemas,
};
use jiff::Timestamp;
use jiff::civil::date;
use serde_json::{Map, Value, json};

/// Returns what programs are told when these happen.
fn told(tell: impl FnOnce(&Events)) -> Vec<Value> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    let observer = move |event: &RunEvent<'_>| {
        let event = serde_json::to_value(event).expect("JSON");
        heard.lock().expect("not poisoned").push(event);
    };
    let ids = Arc::new(SeededIds::new(1));
    let events = Events::new(vec![Arc::new(observer)], Arc::new(SystemClock), ids);
    tell(&events);
    let told = told.lock().expect("not poisoned");
    told.clone()
}

/// Tells one event of each kind, with all that may belong to it.
fn one_of_each(events: &Events) {
    let run = RunId::new("shop");
    let report = RunMachine::new(RunLimits::new(Mode::Run)).report(
        &run,
        ExitReason::AllPassed,
        Timestamp::UNIX_EPOCH,
    );
    let tokens = TokenUsage {
        input: 3,
        ..TokenUsage::default()
    };
    let flow: FlowReport = serde_json::from_value(json!({"run": "shop", "flow": "review",
        "exitReason": "completed", "sessions": 1, "totalDurationMs": 7, "totalCost": report.cost,
        "tokens": tokens}))
    .expect("a report");
    let mut error = Failure::retryable("busy", "later");
    error.retry_after = Some(Duration::from_secs(3));
    let stream = StreamEvent::text("I begin.").by_agent("reviewer");
    let call = ToolCall::new("Bash", json!({"command": "ls"})).by_agent("reviewer");
    let decision = json!({"decision": "deny", "by": "bash-security", "reason": "no"});
    let decision: GateDecision = serde_json::from_value(decision).expect("a decision");
    let execution = ToolExecution::new(ToolStatus::Denied, Duration::from_millis(12));
    let metadata: Map<_, _> = [("lines".to_owned(), json!(3))].into_iter().collect();
    let messages = || json!([]);
    let asked = ModelAsked::new("a-model", ModelMessages::new(2, &messages))
        .by_provider("a-provider")
        .with_max_tokens(100);
    let answer = ModelAnswer::new("", tokens)
        .with_tool_calls(1)
        .with_cost(Some(CostUsd::from_cents(2)))
        .with_model("a-model-2")
        .with_id("answer-1")
        .with_stop_reason("tool_use");
    let id = DeliverableId::new("DL-001").expect("an id");
    let change: StatusChange = serde_json::from_value(json!({"deliverableId": "DL-001",
        "deliverableDescription": "A greeting", "previousStatus": "pending",
        "newStatus": "passed"}))
    .expect("a change");
    let result = SessionResult::new(SessionEnd::Outcome(SessionOutcome::Completed));
    let (reason, until) = (WaitReason::Quota, Timestamp::UNIX_EPOCH);
    let data = json!({"tries": 2});
    let foreign = ForeignLedger::new(ForeignChange::Changed).kept("status.foreign-1.json");
    let kinds = [
        RunEventKind::RunStarted {
            run: &run,
            mode: Mode::Sync,
        },
        RunEventKind::FlowStarted {
            run: &run,
            flow: "review",
            resumed: true,
        },
        RunEventKind::SessionStarted {
            number: 2,
            instruction: &InstructionName::Coding,
            model: Some("a-model"),
        },
        RunEventKind::ConversationResumed {
            conversation: &AgentSessionId::new("c-1"),
        },
        RunEventKind::AgentStarted { prompt: "Work." },
        RunEventKind::AgentEnded { answer: "Done." },
        RunEventKind::AgentFailed { error: &error },
        RunEventKind::Agent { stream: &stream },
        RunEventKind::ToolDecided {
            call: &call,
            decision: &decision,
        },
        RunEventKind::ToolProgress {
            tool: "Bash",
            call_id: Some("call"),
            title: "half of it",
            metadata: &metadata,
        },
        RunEventKind::ToolEnded {
            call_id: "call",
            tool: "Bash",
            output: "",
            execution: &execution,
        },
        RunEventKind::ModelStarted { asked: &asked },
        RunEventKind::ModelChunk {
            part: ModelPart::Thinking,
            text: "Hm.",
        },
        RunEventKind::ModelEnded { answer: &answer },
        RunEventKind::ModelFailed {
            error: &error,
            tokens,
        },
        RunEventKind::ProgressShown {
            message: "tidying up",
        },
        RunEventKind::ProgressHidden,
        RunEventKind::StatusChanged { change: &change },
        RunEventKind::Deprecated { id: &id },
        RunEventKind::Verified { id: &id },
        RunEventKind::LedgerRestored { foreign: &foreign },
        RunEventKind::LedgerEdited {
            recorded: Ledger::new(date(2026, 1, 1)).content_hash(),
            found: Ledger::new(date(2026, 1, 2)).content_hash(),
        },
        RunEventKind::SessionEnded {
            number: 2,
            result: &result,
        },
        RunEventKind::WaitStarted { reason, until },
        RunEventKind::WaitTick {
            reason,
            until,
            remaining: Duration::from_millis(1500),
        },
        RunEventKind::WaitEnded { reason },
        RunEventKind::Paused,
        RunEventKind::Resumed,
        RunEventKind::Instructed {
            text: "The tests come first.",
            delivery: Delivery::Queued,
        },
        RunEventKind::BudgetSpent {
            budget: BudgetKind::Tokens,
        },
        RunEventKind::Warning {
            message: "It is late.",
        },
        RunEventKind::Debug {
            message: "asked again",
            data: Some(&data),
        },
        RunEventKind::Trace {
            message: "asked again",
            data: Some(&data),
        },
        RunEventKind::RunEnded { report: &report },
        RunEventKind::FlowEnded { report: &flow },
    ];
    for kind in kinds {
        events.emit(kind);
    }
}

fn kinds(told: &[Value]) -> BTreeSet<String> {
    let kind = |event: &Value| event["event"].as_str().expect("a kind").to_owned();
    told.iter().map(kind).collect()
}

#[test]
fn an_event_of_each_kind_is_told_again_as_it_was() {
    let first = told(one_of_each);

    let mut again = Vec::new();
    for event in &first {
        let event: RecordedEvent = serde_json::from_value(event.clone()).expect("it is read");
        event.tell("", &mut |event| {
            again.push(serde_json::to_value(event).expect("JSON"));
        });
    }

    assert_eq!(again, first);
}

#[test]
fn no_kind_of_event_is_missing_here() {
    let schema = &schemas()["run-event"];
    let known = schema["oneOf"].as_array().expect("kinds").iter();
    let known = known.map(|kind| &kind["properties"]["event"]["const"]);
    let known: BTreeSet<_> = known
        .map(|name| name.as_str().expect("a name").to_owned())
        .collect();

    assert_eq!(kinds(&told(one_of_each)), known);
}
