//! Tests of many concurrent sessions.

use autonoe_mcp::HttpToolServer;
use futures::future::join_all;
use serde_json::json;

use crate::agent::Agent;
use crate::fixture::{serve, soon};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sessions_at_once_keep_to_themselves() {
    const SESSIONS: usize = 40;
    const CALLS: usize = 10;
    let server = HttpToolServer::new();
    let served = join_all((0..SESSIONS).map(|number| {
        let server = &server;
        async move { serve(server, &format!("mark {number}")).await }
    }))
    .await;

    let conversations = served
        .iter()
        .enumerate()
        .map(|(number, (served, watch))| async move {
            let agent = Agent::to(served).await;
            let calls = (0..CALLS).map(|call| {
                let text = format!("call {call}");
                let agent = &agent;
                async move {
                    let answer = agent.text("act", json!({"do": "say", "text": text})).await;
                    assert_eq!(answer, format!("mark {number}: {text}"));
                }
            });
            join_all(calls).await;
            assert_eq!(watch.called(), CALLS);
        });
    soon(join_all(conversations)).await;
}
