//! Sessions that are stopped at every point.

use autonoe_core::StreamEvent;
use autonoe_core::agent::SessionOutcome;
use autonoe_testkit::model_server::{ModelScript, ScriptedMessage, Turn};
use futures::StreamExt;
use serde_json::json;

use crate::fixture::{Fixture, within};
use crate::model::{adds, shell};

fn script() -> ModelScript {
    ModelScript::new([
        ScriptedMessage::new()
            .thinks("Let me see.")
            .says("I begin.")
            .uses_tool("exec_command", json!({"cmd": "echo 1 > one.txt"}))
            .into(),
        shell("echo 2 > one.txt"),
        adds("two.txt", "2"),
        Turn::text("Done."),
    ])
}

/// The maximum number of events of such a session.
const MOST: usize = 24;

/// The way to stop a session.
#[derive(Clone, Copy, Debug)]
enum End {
    Disposed,
    Dropped,
    Interrupted,
}

/// Stops a session after `count` events, and returns whether it had that many.
async fn cut(count: usize, end: End) -> bool {
    let fixture = Fixture::new(script()).unverified();
    let mut client = fixture.client(fixture.spec([]));
    let control = client.control();
    let mut seen = 0;
    {
        let mut stream = client.query("Do it.".into());
        while seen < count
            && let Some(event) = within(stream.next()).await
        {
            event.expect("no error");
            seen += 1;
        }
        if matches!(end, End::Interrupted) {
            let interrupted = async { control.interrupt().await.expect("it can be") };
            let listened = async {
                let mut last = None;
                while let Some(event) = stream.next().await {
                    last = Some(event.expect("no error"));
                }
                last
            };
            let ((), last) = within(async { tokio::join!(interrupted, listened) }).await;
            match last {
                Some(StreamEvent::End { outcome, .. }) => assert!(
                    matches!(
                        outcome,
                        SessionOutcome::Interrupted | SessionOutcome::Completed
                    ),
                    "{count} {outcome:?}"
                ),
                // The end was among the counted events.
                None => {}
                Some(other) => panic!("{count} {other:?}"),
            }
        }
    }
    match end {
        End::Dropped => drop(client),
        End::Disposed | End::Interrupted => within(client.dispose()).await.expect("it ends"),
    }
    match end {
        End::Dropped => fixture.eventually_nothing_is_left().await,
        End::Disposed | End::Interrupted => fixture.assert_nothing_is_left(),
    }
    seen == count
}

async fn cut_everywhere(end: End) {
    let mut count = 0;
    while cut(count, end).await {
        count += 1;
        assert!(count < MOST, "it never ends");
    }
    assert!(count > 10, "a session has more events than {count}");
}

#[tokio::test]
async fn a_session_can_be_disposed_at_every_point() {
    cut_everywhere(End::Disposed).await;
}

#[tokio::test]
async fn a_session_can_be_dropped_at_every_point() {
    cut_everywhere(End::Dropped).await;
}

#[tokio::test]
async fn a_session_can_be_interrupted_at_every_point() {
    cut_everywhere(End::Interrupted).await;
}
