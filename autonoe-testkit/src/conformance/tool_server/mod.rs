//! What every server of tools must do.

mod access;
mod answers;
mod endings;
mod harness;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{RunId, ServedTools, SessionKey, Toolbox};

pub use self::harness::{CallAnswer, ToolServerHarness, ToolsClient};
use super::checks::{Checks, Finding, Flaw, within};
use super::report::Conformance;

/// How long a server may take for anything that is asked of it.
const LIMIT: Duration = Duration::from_secs(20);

/// Checks a [`ToolServer`](autonoe_core::ToolServer) against its contract.
///
/// The suite serves tools of its own and reaches them as an agent would, through the client that
/// the harness makes. A server that is named by a command is asked less: where it listens cannot
/// be seen.
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
    let mut checks = Checks::of("tool server");
    let stand = Stand { harness };
    answers::check(&stand, &mut checks).await;
    access::check(&stand, &mut checks).await;
    endings::check(&stand, &mut checks).await;
    checks.finish()
}

/// What the checks share.
struct Stand {
    harness: Arc<dyn ToolServerHarness>,
}

impl Stand {
    /// Serves tools for the session of this number.
    async fn serve(&self, number: u32, tools: Toolbox) -> Finding<ServedTools> {
        let server = self.harness.server();
        let key = key(number);
        let served = within(LIMIT, "serving", server.serve(&key, tools)).await?;
        served.map_err(|error| Flaw::Failed(format!("it does not serve: {error}")))
    }

    /// Reaches served tools, which must work.
    async fn reach(&self, served: &ServedTools) -> Finding<Arc<dyn ToolsClient>> {
        let connecting = self.harness.connect(&served.server);
        let client = within(LIMIT, "connecting", connecting).await?;
        client.map_err(|why| Flaw::Failed(format!("its tools cannot be reached: {why}")))
    }
}

/// Calls a tool, which must get an answer.
async fn call(
    client: &Arc<dyn ToolsClient>,
    tool: &str,
    input: serde_json::Value,
) -> Finding<CallAnswer> {
    let answer = within(LIMIT, "a call", client.call(tool, input)).await?;
    answer.map_err(|why| Flaw::Failed(format!("a call of {tool} got no answer: {why}")))
}

fn key(number: u32) -> SessionKey {
    SessionKey {
        run: RunId::new("conformance"),
        number,
    }
}
