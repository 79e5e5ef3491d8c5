//! Tests of turns that are stopped, steered or abandoned.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::SessionOutcome;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, Budget, StreamEvent, ToolOutput};
use autonoe_model::{Message, ModelError, ModelErrorCode};
use futures::StreamExt;
use serde_json::json;
use tokio::sync::Notify;

use crate::agent::fixture::{
    Answer, ScriptedModel, TestTool, agents, calls, echo, spec, text_reply, turn_of,
};

#[tokio::test(start_paused = true)]
async fn a_turn_is_stopped_while_the_model_is_silent() {
    let model = ScriptedModel::new([Answer::Hangs, text_reply("I am here again.")]);
    let agents = agents(&model, [], |_| {});
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    let control = client.control();

    let stopped = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        control.interrupt().await.expect("it can be");
    };
    let (turn, ()) = tokio::join!(turn_of(client.as_mut(), "Wait."), stopped);

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Interrupted));
    let next = turn_of(client.as_mut(), "And now?").await;
    assert_eq!(next.texts(), ["I am here again."]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_stopped_in_a_tool_leaves_no_call_unanswered() {
    let slow = TestTool::reads("Slow", async |_, _| {
        futures::future::pending::<()>().await;
        Ok(ToolOutput::new("never"))
    });
    let two = [("a", "Slow", json!({})), ("b", "Change", json!({}))];
    let change = TestTool::writes("Change", async |_, _| Ok(ToolOutput::new("changed")));
    let model = ScriptedModel::new([calls(&two), text_reply("Well.")]);
    let agents = agents(&model, [slow, change], |_| {});
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    let control = client.control();

    let stopped = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        control.interrupt().await.expect("it can be");
    };
    let (turn, ()) = tokio::join!(turn_of(client.as_mut(), "Wait."), stopped);

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Interrupted));
    let statuses: Vec<_> = turn
        .responses()
        .into_iter()
        .map(|(id, _, status)| (id, status))
        .collect();
    assert_eq!(
        statuses,
        [("a", ToolStatus::Error), ("b", ToolStatus::Error)]
    );
    // The conversation can continue: the model checks that its calls are paired.
    turn_of(client.as_mut(), "Go on.").await;
}

#[tokio::test(start_paused = true)]
async fn steering_reaches_the_next_model_request() {
    let started = Arc::new(Notify::new());
    let go_on = started.clone();
    let tool = TestTool::reads("Look", move |_, _| {
        let started = started.clone();
        async move {
            started.notified().await;
            Ok(ToolOutput::new("seen"))
        }
    });
    let model = ScriptedModel::new([calls(&[("c", "Look", json!({}))]), text_reply("In green.")]);
    let agents = agents(&model, [tool], |_| {});
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    let control = client.control();

    let steered = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        control.steer("Make it green.").await.expect("it is heard");
        go_on.notify_one();
    };
    let (turn, ()) = tokio::join!(turn_of(client.as_mut(), "Paint it."), steered);

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    let requests = model.requests();
    assert_eq!(
        requests[1].messages.last(),
        Some(&Message::user("Make it green."))
    );
    control
        .steer("Too late.")
        .await
        .expect_err("the turn is over");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_turn_ends_its_tools() {
    struct Alive(#[expect(dead_code, reason = "it is held")] Arc<()>);
    let alive = Arc::new(());
    let held = alive.clone();
    let slow = TestTool::writes("Slow", move |_, _| {
        let alive = Alive(held.clone());
        async move {
            futures::future::pending::<()>().await;
            drop(alive);
            Ok(ToolOutput::new("never"))
        }
    });
    let model = ScriptedModel::new([calls(&[("c", "Slow", json!({}))])]);
    let agents = agents(&model, [slow, echo()], |_| {});
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    let mut stream = client.query("Wait.".into());
    while let Some(Ok(event)) = stream.next().await {
        if matches!(event, StreamEvent::ToolInvocation { .. }) {
            break;
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(Arc::strong_count(&alive), 3, "the tool is at work");

    drop(stream);
    client.dispose().await.expect("it ends");

    // One reference is ours, one is the tool's own.
    assert_eq!(Arc::strong_count(&alive), 2, "the call was ended");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_continues_after_a_dropped_turn() {
    let slow = TestTool::writes("Slow", async |_, _| {
        futures::future::pending::<()>().await;
        Ok(ToolOutput::new("never"))
    });
    let two = [("a", "Slow", json!({})), ("b", "Slow", json!({}))];
    let model = ScriptedModel::new([calls(&two), text_reply("Well.")]);
    let agents = agents(&model, [slow], |_| {});
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    {
        let mut stream = client.query("Wait.".into());
        let drain = async { while stream.next().await.is_some() {} };
        let dropped = tokio::time::timeout(Duration::from_secs(5), drain).await;
        assert!(dropped.is_err(), "it waits for the tool");
    }

    // The model checks that its calls are paired.
    let next = turn_of(client.as_mut(), "Go on.").await;

    assert_eq!(next.texts(), ["Well."]);
    let requests = model.requests();
    let Message::Results { results } = &requests[1].messages[2] else {
        panic!("{requests:?}")
    };
    for result in results {
        assert!(
            result.is_error && result.output.contains("it is unknown"),
            "{result:?}"
        );
    }
}

/// Returns a tool that takes ten seconds.
fn slow() -> Arc<dyn autonoe_core::Tool> {
    TestTool::writes("Slow", async |_, _| {
        tokio::time::sleep(Duration::from_secs(10)).await;
        Ok(ToolOutput::new("done"))
    })
}

#[tokio::test(start_paused = true)]
async fn unread_steering_is_returned_after_the_turn() {
    let failure = || {
        let message = "the key was refused";
        Answer::Fails(ModelError::new(
            ModelErrorCode::AuthenticationError,
            message,
        ))
    };
    for (answers, budget, rounds) in [
        (vec![], Budget::default(), 1),
        (vec![], Budget::default().with_tokens(20), 50),
        (vec![failure()], Budget::default(), 50),
    ] {
        let call = calls(&[("c", "Slow", json!({}))]);
        let model = ScriptedModel::new(std::iter::once(call).chain(answers));
        let agents = agents(&model, [slow()], |options| options.max_rounds = rounds);
        let mut client = agents.create(spec(budget)).expect("it can be made");
        let control = client.control();

        let steered = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            control.steer("Use tabs.").await.expect("it is taken");
            assert!(control.take_unread().is_empty(), "it may still be heard");
        };
        let (turn, ()) = tokio::join!(turn_of(client.as_mut(), "Go."), steered);

        assert_eq!(control.take_unread(), ["Use tabs."], "{turn:?}");
        assert!(control.take_unread().is_empty(), "it is given back once");
    }
}

#[tokio::test(start_paused = true)]
async fn unread_steering_is_sent_in_the_next_turn() {
    let call = calls(&[("c", "Slow", json!({}))]);
    let model = ScriptedModel::new([call, text_reply("With tabs.")]);
    let agents = agents(&model, [slow()], |options| options.max_rounds = 1);
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    let control = client.control();

    let steered = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        control.steer("Use tabs.").await.expect("it is taken");
    };
    let (turn, ()) = tokio::join!(turn_of(client.as_mut(), "Go."), steered);
    assert_eq!(turn.outcome(), Some(&SessionOutcome::MaxTurns));
    turn_of(client.as_mut(), "Go on.").await;

    let message = Message::user("Use tabs.");
    assert!(model.requests()[1].messages.contains(&message));
    assert!(control.take_unread().is_empty(), "it was heard");
}
