//! Resumed conversations.

use std::time::Duration;

use autonoe_acp::AcpBackend;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{AgentClientFactory, StreamEvent};

use crate::agent::{Agent, Fixture, TurnOutput};

async fn resumed(agent: Agent) -> (Fixture, TurnOutput) {
    let talk = agent.start();
    let mut spec = talk.spec();
    spec.resume = Some(AgentSessionId::new("s"));
    let mut options = talk.options();
    options.history_limit = Duration::from_secs(10);
    let agents = AcpBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");
    let heard = TurnOutput::collect(client.as_mut()).await;
    talk.end(client).await;
    (talk, heard)
}

#[tokio::test]
async fn history_is_discarded_and_its_permission_requests_are_refused() {
    let question = r#"{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}}"#;
    let agent = Agent {
        session: r#"say Old.; answer '{}'; say Older.; request session/request_permission '{"sessionId":"s","toolCall":{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}},"options":'"$once"'}'; say Oldest."#,
        ..Agent::prompted(format!("ask '{question}'; say Done.; finish"))
    };

    let (talk, heard) = resumed(agent).await;

    assert_eq!(heard.texts(), ["Done."], "{heard:?}");
    assert_eq!(talk.replies(), ["no", "yes"]);
}

#[tokio::test]
async fn earlier_usage_is_not_counted_again() {
    let agent = Agent::prompted(
        r#"say Done.; answer '{"stopReason":"end_turn","usage":{"totalTokens":11000,"inputTokens":10000,"outputTokens":1000}}'"#,
    );

    let (_, heard) = resumed(agent).await;

    let told = heard
        .events
        .iter()
        .any(|event| matches!(event, StreamEvent::Usage { .. }));
    assert!(
        !told,
        "nobody can tell how much of it was used before: {heard:?}"
    );
}
