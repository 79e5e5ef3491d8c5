//! Tests of the in-process agent with Autonoe's own MCP server.

use std::sync::Arc;

use autonoe_core::RunId;
use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{LedgerStore, MemoryRepository, deliverable_tools};
use autonoe_core::time::{Epoch, SessionKey, SystemClock};
use autonoe_core::tool::{ToolServer, ToolStatus, Toolbox};
use autonoe_mcp::HttpToolServer;
use serde_json::json;

use super::{Place, session};

#[tokio::test]
async fn the_tools_of_our_own_server_are_called() {
    let repository = Arc::new(MemoryRepository::new());
    let store = LedgerStore::new(repository, Arc::new(SystemClock), Epoch(1));
    let tools = Toolbox::new(deliverable_tools(&store, &InstructionName::Sync));
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let served = HttpToolServer::new()
        .serve(&key, tools)
        .await
        .expect("it serves");
    let place = Place::new();
    let mut spec = place.spec(&[]);
    spec.mcp_servers.insert("web".into(), served.server.clone());
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});

    let (turn, _) = session(
        spec,
        &[
            ("a", "mcp__web__create", plan.clone()),
            ("b", "mcp__web__create", plan),
            ("c", "mcp__web__create", json!({"deliverables": "none"})),
        ],
        |_| {},
    )
    .await;

    let responses = turn.responses();
    let statuses: Vec<_> = responses.iter().map(|(_, _, status)| *status).collect();
    assert_eq!(
        statuses,
        [ToolStatus::Ok, ToolStatus::Error, ToolStatus::Error]
    );
    assert!(responses[1].1.contains("DUPLICATE_ID"), "{responses:?}");
    assert_eq!(
        store
            .read()
            .await
            .expect("it can be read")
            .map(|state| state.ledger.counts().total),
        Some(1)
    );
}
