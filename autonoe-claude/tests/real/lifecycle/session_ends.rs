//! Sessions that end, or are stopped.

use std::future;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::{AgentClient, AgentError, HookDecision, PreToolUseHook, StreamEvent, ToolCall};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use autonoe_testkit::program::processes_in;
use futures::StreamExt;
use rustix::process::Signal;
use serde_json::json;
use tokio::sync::Notify;

use super::{ENDLESS, running};
use crate::build::{Build, on_newer_build};
use crate::fixture::{Fixture, collect_events, eventually, send, within};

async fn a_session_that_ends_by_itself(build: Build) {
    // Background processes of a tool survive every orderly end of the program.
    let input = json!({
        "command": "nohup sleep 600 >/dev/null 2>&1 & setsid sleep 600 >/dev/null 2>&1 & echo 1 > begun",
        "description": "leave something",
    });
    let script = ModelScript::new([Turn::tool("Bash", input), Turn::text("It runs.")]);
    let fixture = Fixture::new(build, script);
    let mut client = fixture.client(fixture.spec([]));

    let (events, error) = collect_events(client.as_mut(), "Leave something.").await;

    assert!(error.is_none(), "{error:?} {events:?}");
    let sleeping = |name: &str| {
        let processes = fixture.processes();
        processes.iter().filter(|it| it.name == name).count()
    };
    eventually("two that sleep", || sleeping("sleep") == 2).await;
    assert_eq!(fixture.session_folders().len(), 1);
    within(client.dispose()).await.expect("it ends");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

async fn a_daemon_without_an_environment(build: Build) {
    let daemon = r#"node -e "require('child_process').spawn('sleep',['97'],{detached:true,stdio:'ignore',env:{}}).unref()""#;
    for is_killed in [false, true] {
        let input = json!({"command": daemon, "description": "leave a daemon"});
        let script = ModelScript::new([Turn::tool("Bash", input), Turn::text("It runs.")]);
        let fixture = Fixture::new(build, script);
        let mut client = fixture.client(fixture.spec([]));

        let (events, error) = collect_events(client.as_mut(), "Leave a daemon.").await;

        assert!(error.is_none(), "{error:?} {events:?}");
        let project = fixture.project();
        let sleeps = |(_, name): &(u32, String)| name == "sleep";
        eventually("a daemon", || processes_in(&project).iter().any(sleeps)).await;
        if is_killed {
            send(Signal::KILL, fixture.program().await);
        }
        within(client.dispose()).await.expect("it ends");
        assert_eq!(processes_in(&project), [], "killed: {is_killed}");
        fixture.assert_nothing_is_left();
    }
}

async fn a_session_that_is_interrupted_in_a_tool(build: Build) {
    let fixture = running(build, ENDLESS);
    let mut client = fixture.client(fixture.spec([]));
    let control = client.control();

    let turn = collect_events(client.as_mut(), "Wait.");
    let interrupt = async {
        fixture.written("begun").await;
        control.interrupt().await.expect("it can be");
    };
    let ((events, error), ()) = tokio::join!(turn, interrupt);
    within(client.dispose()).await.expect("it ends");

    assert_interrupted(&events, error.as_ref());
    fixture.assert_nothing_is_left();
}

/// A hook that never answers, and notifies when it is called.
#[derive(Default)]
struct Silent {
    called: Notify,
}

#[async_trait]
impl PreToolUseHook for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    async fn check(&self, _: &ToolCall, _: &ProjectPaths) -> HookDecision {
        self.called.notify_one();
        future::pending().await
    }
}

async fn a_session_that_is_interrupted_in_a_hook(build: Build) {
    let fixture = running(build, ENDLESS);
    let hook = Arc::new(Silent::default());
    let mut spec = fixture.spec([]);
    spec.gate = spec.gate.with_hook(hook.clone());
    let mut client = fixture.client(spec);
    let control = client.control();

    let turn = collect_events(client.as_mut(), "Wait.");
    let interrupt = async {
        within(hook.called.notified()).await;
        control.interrupt().await.expect("it can be");
    };
    let ((events, error), ()) = tokio::join!(turn, interrupt);
    within(client.dispose()).await.expect("it ends");

    assert_interrupted(&events, error.as_ref());
    assert_eq!(fixture.files(), Vec::<String>::new());
    fixture.assert_nothing_is_left();
}

async fn a_session_that_is_disposed_of_in_a_hook(build: Build) {
    let fixture = running(build, ENDLESS);
    let hook = Arc::new(Silent::default());
    let mut spec = fixture.spec([]);
    spec.gate = spec.gate.with_hook(hook.clone());
    let mut client = fixture.client(spec);

    drop_stream_when(client.as_mut(), hook.called.notified()).await;
    within(client.dispose()).await.expect("it ends");

    assert_eq!(fixture.files(), Vec::<String>::new());
    fixture.assert_nothing_is_left();
}

async fn a_session_that_is_disposed_of_in_a_tool(build: Build) {
    let fixture = running(build, ENDLESS);
    let mut client = fixture.client(fixture.spec([]));

    drop_stream_when(client.as_mut(), fixture.written("begun")).await;
    within(client.dispose()).await.expect("it ends");

    fixture.assert_nothing_is_left();
}

async fn a_session_that_is_disposed_of_while_it_starts(build: Build) {
    let fixture = Fixture::new(build, ModelScript::new::<Turn>([]));
    let mut client = fixture.client(fixture.spec([]));

    let started = async {
        fixture.program().await;
    };
    drop_stream_when(client.as_mut(), started).await;
    within(client.dispose()).await.expect("it ends");

    fixture.assert_nothing_is_left();
}

async fn a_client_that_is_dropped_in_a_tool(build: Build) {
    let fixture = running(build, ENDLESS);
    let mut client = fixture.client(fixture.spec([]));

    drop_stream_when(client.as_mut(), fixture.written("begun")).await;
    assert_ne!(fixture.processes(), []);
    drop(client);

    fixture.eventually_nothing_is_left().await;
}

async fn a_program_that_ignores_everything_but_a_kill(build: Build) {
    let fixture = running(build, ENDLESS);
    let mut client = fixture.client(fixture.spec([]));

    let stopped = async {
        fixture.written("begun").await;
        send(Signal::STOP, fixture.program().await);
    };
    drop_stream_when(client.as_mut(), stopped).await;
    within(client.dispose()).await.expect("it ends");

    fixture.assert_nothing_is_left();
}

/// Sends a prompt, and drops the stream as soon as `happened` completes.
async fn drop_stream_when(client: &mut dyn AgentClient, condition: impl Future<Output = ()>) {
    let mut stream = client.query("Wait.".into());
    let listened = async { while stream.next().await.is_some() {} };
    tokio::select! {
        () = listened => panic!("it ended by itself"),
        () = within(condition) => {}
    }
}

fn assert_interrupted(events: &[StreamEvent], error: Option<&AgentError>) {
    assert!(error.is_none(), "{error:?} {events:?}");
    let Some(StreamEvent::End { outcome, .. }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(*outcome, SessionOutcome::Interrupted, "{events:?}");
}

on_newer_build![
    a_session_that_is_interrupted_in_a_hook,
    a_daemon_without_an_environment,
    a_session_that_ends_by_itself,
    a_session_that_is_interrupted_in_a_tool,
    a_session_that_is_disposed_of_in_a_hook,
    a_session_that_is_disposed_of_in_a_tool,
    a_session_that_is_disposed_of_while_it_starts,
    a_client_that_is_dropped_in_a_tool,
    a_program_that_ignores_everything_but_a_kill,
];
