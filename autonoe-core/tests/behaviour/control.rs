//! Cancelling, pausing, resuming and instructing a run.

use std::time::Duration;

use autonoe_core::agent::Support;
use autonoe_core::{CancellationToken, ExitReason, RunControl};
use autonoe_testkit::{ScriptedBackend, SessionScript};

use crate::behaviour::support::{Fixture, create, passes, plans};

/// Runs while `person` acts, and returns the report.
async fn run_with(
    fixture: &Fixture,
    person: impl AsyncFnOnce(RunControl),
) -> autonoe_core::RunReport {
    let control = RunControl::new();
    let runner = fixture.runner().build().expect("parts fit");
    let (report, ()) = tokio::join!(runner.run(&control), person(control.clone()));
    assert_eq!(fixture.agents.open_clients(), 0);
    report
}

const MINUTE: Duration = Duration::from_secs(60);

// Shows: interfaces/session-runner/signal, interfaces/session-runner/exit-interrupted
// Shows: interfaces/session-runner/run
#[tokio::test(start_paused = true)]
async fn a_cancel_in_a_session_disposes_of_it_at_once() {
    let fixture = Fixture::new([SessionScript::new("works").says("working").hangs()]);

    let report = run_with(&fixture, async |control| {
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    })
    .await;

    assert_eq!(report.exit, ExitReason::Interrupted);
    assert_eq!(report.elapsed, MINUTE);
    assert_eq!((report.sessions, fixture.agents.disposed()), (1, 1));
}

// Shows: interfaces/session-runner/signal
#[tokio::test(start_paused = true)]
async fn a_cancelled_token_ends_the_run_and_its_session() {
    let fixture = Fixture::new([SessionScript::new("works").says("working").hangs()]);
    let token = CancellationToken::new();
    let control = RunControl::from(token.clone());
    let runner = fixture.runner().build().expect("parts fit");

    let (report, ()) = tokio::join!(runner.run(&control), async {
        tokio::time::sleep(MINUTE).await;
        token.cancel();
    });

    assert_eq!(report.exit, ExitReason::Interrupted);
    assert_eq!(report.elapsed, MINUTE);
    assert_eq!(
        (fixture.agents.disposed(), fixture.agents.open_clients()),
        (1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_a_disposal_hangs_is_bounded() {
    let fixture = Fixture::new([SessionScript::new("works")
        .says("working")
        .hangs()
        .dispose_hangs()]);

    let report = run_with(&fixture, async |control| {
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    })
    .await;

    assert_eq!(report.exit, ExitReason::Interrupted);
    // The limit of a disposal is 30 seconds.
    assert_eq!(report.elapsed, MINUTE + MINUTE / 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled_before_it_starts_does_nothing() {
    let fixture = Fixture::new([]);
    let control = RunControl::new();
    control.cancel();

    let report = fixture
        .runner()
        .build()
        .expect("parts fit")
        .run(&control)
        .await;

    assert_eq!(report.exit, ExitReason::Interrupted);
    assert_eq!(report.sessions, 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_a_session_that_emits_endlessly() {
    use std::sync::Arc;

    use async_trait::async_trait;
    use autonoe_core::agent::{NoControl, Prompt, SessionControl, SessionEnd};
    use autonoe_core::run::{Session, SessionLimits};
    use autonoe_core::time::SystemClock;
    use autonoe_core::{AgentClient, AgentError, MessageStream, StreamEvent};
    use futures::{StreamExt, stream};
    use tokio_util::sync::CancellationToken;

    struct Chatterbox;
    #[async_trait]
    impl AgentClient for Chatterbox {
        fn query(&mut self, _: Prompt) -> MessageStream<'_> {
            stream::repeat_with(|| Ok(StreamEvent::text("bla"))).boxed()
        }
        fn control(&self) -> Arc<dyn SessionControl> {
            Arc::new(NoControl)
        }
        async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
            Ok(())
        }
    }
    let stop = CancellationToken::new();
    let session = Session::new(Arc::new(SystemClock), SessionLimits::default());
    let mut ignore = |_: &StreamEvent| {};

    let (result, ()) = tokio::join!(
        session.run(Box::new(Chatterbox), "go".into(), &stop, &mut ignore),
        async { stop.cancel() },
    );

    assert_eq!(result.end, SessionEnd::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_pause_between_sessions_can_be_interrupted() {
    let fixture = Fixture::new([plans(&["A"])]);
    let control = RunControl::new();
    let runner = fixture
        .runner()
        .pause_between_sessions(60 * MINUTE)
        .build()
        .expect("parts fit");

    let (report, ()) = tokio::join!(runner.run(&control), async {
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    });

    assert_eq!(report.exit, ExitReason::Interrupted);
    assert_eq!(report.elapsed, MINUTE);
}

#[tokio::test(start_paused = true)]
async fn a_paused_run_holds_until_it_is_resumed() {
    let fixture = Fixture::new([plans(&["A"]), passes("A")]);

    let report = run_with(&fixture, async |control| {
        control.pause();
        tokio::time::sleep(30 * MINUTE).await;
        control.resume();
    })
    .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(
        (fixture.log.count("paused"), fixture.log.count("resumed")),
        (1, 1)
    );
    assert!(report.elapsed >= 30 * MINUTE, "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_paused_before_it_starts_holds_from_its_start() {
    let fixture = Fixture::new([plans(&["A"]), passes("A")]);
    let control = RunControl::new();
    control.pause();
    let runner = fixture.runner().build().expect("parts fit");

    let (report, started_in_time) = tokio::join!(runner.run(&control), async {
        tokio::time::sleep(MINUTE).await;
        let sessions = fixture.agents.received().len();
        control.resume();
        sessions
    });

    assert_eq!((report.exit, started_in_time), (ExitReason::AllPassed, 0));
}

#[tokio::test(start_paused = true)]
async fn a_paused_run_can_be_cancelled() {
    let fixture = Fixture::new([plans(&["A"])]);

    let report = run_with(&fixture, async |control| {
        control.pause();
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    })
    .await;

    assert_eq!(report.exit, ExitReason::Interrupted);
}

#[tokio::test(start_paused = true)]
async fn a_message_reaches_the_next_prompt_once() {
    let fixture = Fixture::new([
        plans(&["A", "B"]),
        passes("A").expects_in_prompt("use tabs"),
        passes("B"),
    ]);

    run_with(&fixture, async |control| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        control.instruct("use tabs");
    })
    .await;

    let prompts = fixture.agents.prompts();
    let count = prompts
        .iter()
        .filter(|prompt| prompt.contains("use tabs"))
        .count();
    assert_eq!(count, 1, "{prompts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_can_be_steered_gets_the_message_at_once() {
    let agents = ScriptedBackend::new([
        SessionScript::new("takes a while")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .waits(10 * MINUTE)
            .ends(),
        passes("A"),
    ]);
    let able = agents.capabilities().clone().with_steering(Support::Yes);
    let fixture = Fixture::with(agents.with_capabilities(able));

    run_with(&fixture, async |control| {
        tokio::time::sleep(MINUTE).await;
        control.instruct("use tabs");
    })
    .await;

    let received = fixture.agents.received();
    assert_eq!(received[0].steered, ["use tabs"]);
    assert!(!received[1].prompt.contains("use tabs"));
}
