//! Conversations that go on.

use std::time::Duration;

use autonoe_acp::AcpAgents;
use autonoe_core::{AgentClientFactory, AgentSessionId, StreamEvent};

use crate::agent::{Agent, Heard, Talk};

async fn resumed(agent: Agent) -> (Talk, Heard) {
    let talk = agent.start();
    let mut spec = talk.spec();
    spec.resume = Some(AgentSessionId::new("s"));
    let mut options = talk.options();
    options.history_limit = Duration::from_secs(10);
    let agents = AcpAgents::new(options);
    let mut client = agents.create(spec).expect("it can be made");
    let heard = Heard::of(client.as_mut()).await;
    talk.end(client).await;
    (talk, heard)
}

#[tokio::test]
async fn history_is_no_news_and_what_it_asks_is_refused() {
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
async fn what_was_used_before_is_not_used_again() {
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
