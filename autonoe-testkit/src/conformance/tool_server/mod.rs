//! Conformance suite for tool servers.

mod access;
mod answers;
mod harness;
mod shutdown;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{ServedTools, Toolbox};

pub use self::harness::{CallAnswer, ToolServerHarness, ToolsClient};
use super::checks::{CheckOutcome, Checks, Flaw, within};
use super::report::Conformance;

/// The time limit of every request to a server.
const LIMIT: Duration = Duration::from_secs(20);

/// Checks a [`ToolServer`](autonoe_core::tool::ToolServer) against its contract.
///
/// The suite serves its own tools and calls them as an agent would, through the client that the
/// harness creates. Fewer checks apply to a server that is described by a command, because its
/// address cannot be observed.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_testkit::conformance::{self, ToolServerHarness};
///
/// async fn my_server_does_what_it_must(harness: Arc<dyn ToolServerHarness>) {
///     conformance::tool_server(harness).await.assert();
/// }
/// ```
pub async fn tool_server(harness: Arc<dyn ToolServerHarness>) -> Conformance {
    let mut checks = Checks::new("tool server");
    let fixture = Fixture { harness };
    answers::check(&fixture, &mut checks).await;
    access::check(&fixture, &mut checks).await;
    shutdown::check(&fixture, &mut checks).await;
    checks.finish()
}

/// Fixture shared by the checks.
struct Fixture {
    harness: Arc<dyn ToolServerHarness>,
}

impl Fixture {
    /// Serves tools for the session with this number.
    async fn serve(&self, number: u32, tools: Toolbox) -> CheckOutcome<ServedTools> {
        let server = self.harness.server();
        let key = key(number);
        let served = within(LIMIT, "serving", server.serve(&key, tools)).await?;
        served.map_err(|error| Flaw::Failed(format!("it does not start: {error}")))
    }

    /// Connects to served tools, which must work.
    async fn reach(&self, served: &ServedTools) -> CheckOutcome<Arc<dyn ToolsClient>> {
        let connecting = self.harness.connect(&served.server);
        let client = within(LIMIT, "connecting", connecting).await?;
        client.map_err(|why| Flaw::Failed(format!("cannot reach its tools: {why}")))
    }
}

/// Calls a tool, which must return an answer.
async fn call(
    client: &Arc<dyn ToolsClient>,
    tool: &str,
    input: serde_json::Value,
) -> CheckOutcome<CallAnswer> {
    let answer = within(LIMIT, "a call", client.call(tool, input)).await?;
    answer.map_err(|why| Flaw::Failed(format!("a call of {tool} got no answer: {why}")))
}

fn key(number: u32) -> SessionKey {
    SessionKey {
        run: RunId::new("conformance"),
        number,
    }
}
