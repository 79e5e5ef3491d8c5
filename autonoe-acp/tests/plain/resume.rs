//! Resumed conversations.

use std::time::Duration;

use autonoe_acp::AcpBackend;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{AgentClientFactory, StreamEvent};

use crate::agent::{Agent, Fixture, TurnOutput};

async fn resumed(agent: Agent) -> (Fixture, TurnOutput) {
    let fixture = agent.start();
    let mut spec = fixture.spec();
    spec.resume = Some(AgentSessionId::new("s"));
    let mut options = fixture.options();
    options.history_limit = Duration::from_secs(10);
    let agents = AcpBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");
    let output = TurnOutput::collect(client.as_mut()).await;
    fixture.end(client).await;
    (fixture, output)
}

#[tokio::test]
async fn history_is_discarded_and_its_permission_requests_are_refused() {
    let question = r#"{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}}"#;
    let agent = Agent {
        session: r#"say Old.; answer '{}'; say Older.; request session/request_permission '{"sessionId":"s","toolCall":{"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"}},"options":'"$once"'}'; say Oldest."#,
        ..Agent::prompted(format!("ask '{question}'; say Done.; finish"))
    };

    let (fixture, output) = resumed(agent).await;

    assert_eq!(output.texts(), ["Done."], "{output:?}");
    assert_eq!(fixture.replies(), ["no", "yes"]);
}

#[tokio::test]
async fn earlier_usage_is_not_counted_twice() {
    let agent = Agent::prompted(
        r#"say Done.; answer '{"stopReason":"end_turn","usage":{"totalTokens":11000,"inputTokens":10000,"outputTokens":1000}}'"#,
    );

    let (_, output) = resumed(agent).await;

    let has_usage = output
        .events
        .iter()
        .any(|event| matches!(event, StreamEvent::Usage { .. }));
    assert!(
        !has_usage,
        "nobody can tell how much of it was used before: {output:?}"
    );
}
