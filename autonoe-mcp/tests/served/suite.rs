//! Conformance suite of tool servers.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::tool::{McpServer, ToolServer};
use autonoe_mcp::HttpToolServer;
use autonoe_testkit::conformance::{ToolServerHarness, ToolsClient, tool_server};

use crate::agent::Agent;

struct Harness(Arc<HttpToolServer>);

#[async_trait]
impl ToolServerHarness for Harness {
    fn server(&self) -> Arc<dyn ToolServer> {
        self.0.clone()
    }

    async fn connect(&self, at: &McpServer) -> Result<Arc<dyn ToolsClient>, String> {
        Ok(Arc::new(Agent::connect(at).await?))
    }
}

#[tokio::test]
async fn a_server_by_address_conforms() {
    let report = tool_server(Arc::new(Harness(Arc::new(HttpToolServer::new())))).await;

    report.assert();
    assert!(report.skipped().is_empty(), "{report}");
}

#[tokio::test]
async fn a_server_by_command_conforms() {
    let server = HttpToolServer::new().by_command("autonoe");

    let report = tool_server(Arc::new(Harness(Arc::new(server)))).await;

    report.assert();
    let skipped: Vec<_> = report
        .skipped()
        .iter()
        .map(|skip| skip.check.as_str())
        .collect();
    assert_eq!(
        skipped,
        ["it is reachable from this machine only"],
        "{report}"
    );
}
