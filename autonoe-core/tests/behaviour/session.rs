//! Single sessions without a run, and backends that misbehave.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{
    Activity, AgentErrorKind, HookCoverage, NoControl, Prompt, SessionControl, SessionEnd,
    SessionOutcome, SessionReport, Support,
};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::run::{InstructionError, InstructionSource, Session, SessionLimits};
use autonoe_core::time::{AgentSessionId, SessionKey};
use autonoe_core::tool::Toolbox;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Budget, Capabilities, ExitReason, MessageStream,
    RunId, SessionSpec, StreamEvent,
};
use autonoe_testkit::{CapturedLogs, ScriptedBackend, SessionScript, VirtualClock};
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::behaviour::support::{Fixture, passes, plans};

fn spec() -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]))
}

async fn play(script: SessionScript) -> (SessionReport, Vec<StreamEvent>) {
    play_with(&ScriptedBackend::new([script])).await
}

async fn play_with(agents: &ScriptedBackend) -> (SessionReport, Vec<StreamEvent>) {
    let client = agents.create(spec()).expect("there is a script");
    let session = Session::new(Arc::new(VirtualClock::new()), SessionLimits::default());
    let mut seen = Vec::new();
    let result = session
        .run(
            client,
            "go".into(),
            &CancellationToken::new(),
            &mut |event| seen.push(event.clone()),
        )
        .await;
    (result, seen)
}

// Shows: interfaces/agent-client/query-instruction
// Shows: interfaces/agent-client/lifecycle-query-stream-dispose-result
// Shows: interfaces/agent-client/message-stream, interfaces/session/run-client-instruction-logger
// Shows: interfaces/session/success-duration
#[tokio::test(start_paused = true)]
async fn session_reports_outcome_cost_duration_and_conversation() {
    let script = SessionScript::new("works")
        .says("hello")
        .waits(Duration::from_secs(90))
        .costs(autonoe_core::CostUsd::from_cents(25))
        .ends();

    let (result, events) = play(script).await;

    assert!(result.end.is_completed());
    assert_eq!(
        result.cost.exact(),
        Some(autonoe_core::CostUsd::from_cents(25))
    );
    assert_eq!(result.duration, Duration::from_secs(90));
    assert_eq!(
        result.agent_session,
        Some(AgentSessionId::new("scripted-1"))
    );
    assert_eq!(result.activity, Activity::Some);
    assert_eq!(events.len(), 3);
}

// Shows: interfaces/session/success-outcome, interfaces/session/outcome-completed
// Shows: interfaces/session/outcome-execution-error-messages
// Shows: interfaces/session/outcome-budget-exceeded
// Shows: interfaces/session/outcome-quota-exceeded-message, spec/2.3/session-outcome
#[tokio::test(start_paused = true)]
async fn session_result_has_the_outcome_of_the_backend() {
    let reset = "2026-01-01T06:00:00Z".parse().ok();
    for outcome in [
        SessionOutcome::Completed,
        SessionOutcome::ExecutionError {
            messages: vec!["it broke".into()],
        },
        SessionOutcome::MaxTurns,
        SessionOutcome::BudgetExceeded,
        SessionOutcome::QuotaExceeded {
            message: "limit".into(),
            resets_at: reset,
        },
    ] {
        let script = SessionScript::new("ends")
            .says("x")
            .ends_with(outcome.clone());

        let (result, _) = play(script).await;

        let quota = matches!(outcome, SessionOutcome::QuotaExceeded { .. });
        assert_eq!(result.quota_resets_at(), if quota { reset } else { None });
        assert_eq!(result.end, SessionEnd::Outcome(outcome));
    }
}

// Shows: interfaces/session/failure-error-duration, interfaces/session/unhandled-exception
#[tokio::test(start_paused = true)]
async fn an_error_and_a_panic_are_failures_and_the_client_is_disposed_of() {
    let waits = |name: &str| SessionScript::new(name).waits(Duration::from_secs(5));
    for (script, code) in [
        (
            waits("fails").fails(AgentErrorKind::Overloaded, "busy"),
            "overloaded",
        ),
        (waits("panics").says("x").panics(), "backend_panicked"),
        (waits("breaks off").says("x"), "no_end"),
    ] {
        let agents = ScriptedBackend::new([script]);

        let (result, _) = play_with(&agents).await;

        assert_eq!((agents.disposed(), agents.open_clients()), (1, 0), "{code}");
        assert_eq!(result.duration, Duration::from_secs(5), "{code}");
        let SessionEnd::Failed { error } = result.end else {
            panic!("{:?}", result.end)
        };
        assert_eq!(error.code, code);
        assert_eq!(result.cost.exact(), None, "what it cost is unknown");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_result_is_small_whatever_its_agent_emitted() {
    let long = "an error of great length, ".repeat(100_000);
    let reports = SessionOutcome::ExecutionError {
        messages: vec![long.clone(), long.clone()],
    };
    let quota = SessionOutcome::QuotaExceeded {
        message: long.clone(),
        resets_at: None,
    };
    let begins = || {
        let name = AgentSessionId::new(long.clone());
        SessionScript::new("says much").sends(StreamEvent::started(name, None))
    };

    for script in [
        begins().fails(AgentErrorKind::Crashed, long.clone()),
        begins().ends_with(reports),
        begins().ends_with(quota),
    ] {
        let (result, _) = play(script).await;

        let json = serde_json::to_string(&result).expect("JSON");
        assert!(json.len() < 20_000, "{}", json.len());
        assert!(json.contains("bytes were left out"), "{json}");
    }
}

#[tokio::test(start_paused = true)]
async fn events_after_the_end_are_not_part_of_the_session() {
    let script = SessionScript::new("ends twice")
        .says("x")
        .ends()
        .sends(StreamEvent::warning("shutting down"))
        .fails(AgentErrorKind::Crashed, "after the end");

    let (result, events) = play(script).await;

    assert!(result.end.is_completed());
    assert!(matches!(events.last(), Some(StreamEvent::End { .. })));
}

/// A factory that fails in one way.
struct Faulty(Fault);

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    ProbeFails,
    ProbePanics,
    CreateFails,
    CreatePanics,
    QueryPanics,
    Able,
}

struct Broken;

#[async_trait]
impl AgentClient for Broken {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        panic!("the query panics");
    }
    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }
    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

struct Quiet;

#[async_trait]
impl AgentClient for Quiet {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        stream::iter([Ok(StreamEvent::end(SessionOutcome::Completed, None))]).boxed()
    }
    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }
    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

#[async_trait]
impl AgentClientFactory for Faulty {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        match self.0 {
            Fault::ProbeFails => Err(AgentError::new(
                AgentErrorKind::NotAvailable,
                "it is not installed",
            )),
            Fault::ProbePanics => panic!("the probe panics"),
            _ => Ok(Capabilities::new("faulty")
                .with_hooks(HookCoverage::EveryTool)
                .with_sandbox(Support::Yes)
                .with_in_process_tools(Support::Yes)),
        }
    }

    fn create(&self, _: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        match self.0 {
            Fault::CreateFails => Err(AgentError::new(AgentErrorKind::Crashed, "it did not start")),
            Fault::CreatePanics => panic!("create panics"),
            Fault::QueryPanics => Ok(Box::new(Broken)),
            _ => Ok(Box::new(Quiet)),
        }
    }
}

// Shows: spec/3.4/overall-info-also-on-max
#[tokio::test(start_paused = true)]
async fn a_report_is_returned_whatever_the_backend_does() {
    for (fault, exit, code) in [
        (Fault::ProbeFails, "failed", "backend_not_available"),
        (Fault::ProbePanics, "failed", "plugin_panicked"),
        (Fault::CreateFails, "max_retries_exceeded", "crashed"),
        (Fault::CreatePanics, "failed", "plugin_panicked"),
        (
            Fault::QueryPanics,
            "max_retries_exceeded",
            "backend_panicked",
        ),
        (Fault::Able, "max_retries_exceeded", "empty_session"),
    ] {
        let fixture = Fixture::new([]);

        let report = fixture
            .run(fixture.runner().agents(Arc::new(Faulty(fault))))
            .await;

        let (ExitReason::Failed { error } | ExitReason::MaxRetriesExceeded { error }) =
            &report.exit
        else {
            panic!("{report:?}");
        };
        assert_eq!((report.exit.code(), error.code.as_str()), (exit, code));
    }
}

/// Takes five seconds to report a missing text.
struct SlowInstructions;

#[async_trait]
impl InstructionSource for SlowInstructions {
    async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Err(InstructionError::new(name.clone(), "there is no text"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_before_its_query_has_a_duration() {
    let short = Budget::default().with_time(Duration::from_secs(2));
    for (budget, end, duration) in [
        (Budget::default(), "failed", 5000),
        (short, "budget_spent", 2000),
    ] {
        let fixture = Fixture::new([]);
        let runner = fixture.runner().instructions(SlowInstructions);

        fixture.run(runner.budget(budget)).await;

        let events = fixture.log.json();
        let ended: Vec<_> = events
            .iter()
            .filter(|event| event["event"] == "session_ended")
            .map(|event| &event["result"])
            .collect();
        assert_eq!(ended.len(), 1, "{events:?}");
        assert_eq!(ended[0]["end"], end);
        assert_eq!(ended[0]["durationMs"], duration, "{end}");
    }
}

// Shows: interfaces/hooks/coverage
#[tokio::test(start_paused = true)]
async fn a_backend_that_cannot_enforce_the_guards_is_not_started() {
    let weak = Capabilities::new("weak").with_hooks(HookCoverage::Partial);
    let fixture = Fixture::with(ScriptedBackend::new([]).with_capabilities(weak));

    let report = fixture.run(fixture.runner()).await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("it started: {report:?}")
    };
    assert_eq!(error.code, "guards_not_enforced");
    assert_eq!(report.sessions, 0);
}

// Shows: interfaces/logger/test-logger, interfaces/logger/interface, spec/3.3/output-capture
// Shows: framework/callbacks/debug-sources
#[tokio::test(start_paused = true)]
async fn diagnostics_are_traced() {
    let logs = CapturedLogs::start();
    let fixture = Fixture::new([plans(&["A"]).dispose_fails(), passes("A")]);

    fixture.run(fixture.runner()).await;

    let warnings = logs.at_least(tracing::Level::WARN);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0]
            .message
            .starts_with("disposing of an agent client failed")
    );
}
