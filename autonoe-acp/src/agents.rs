//! Makes clients, and looks whether there is anything to make them of.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::ProgramClient;
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};

use crate::launch::{AcpOptions, check};
use crate::probe::probe;
use crate::session::Live;

/// An agent of the protocol as a backend.
///
/// ```
/// use autonoe_acp::{AcpAgents, AcpOptions};
///
/// // Who embeds the library decides what the program gets to see.
/// let environment = ["PATH", "GEMINI_API_KEY"]
///     .into_iter()
///     .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
///
/// let gemini = AcpOptions::gemini("/usr/bin/node", "/opt/gemini/bundle/gemini.js", environment);
/// let agents = AcpAgents::new(gemini.with_model("gemini-2.5-flash"));
/// ```
#[derive(Clone, Debug)]
pub struct AcpAgents {
    options: Arc<AcpOptions>,
}

impl AcpAgents {
    /// Makes a backend of `options`.
    pub fn new(options: AcpOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }
}

#[async_trait]
impl AgentClientFactory for AcpAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.options.check_values()?;
        probe(&self.options).await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.options.check_values()?;
        check(&self.options, &spec)?;
        Ok(Box::new(ProgramClient::<Live>::new(
            self.options.clone(),
            spec,
        )))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use autonoe_core::McpServer;
    use autonoe_testkit::conformance::assert_option_refused;

    use super::*;

    #[tokio::test]
    async fn options_with_which_nothing_could_run_are_refused_by_the_name_of_their_call() {
        let options = || AcpOptions::new("agent", "/usr/bin/agent", []);
        let server: McpServer = serde_json::from_str(r#"{"command": "node"}"#).expect("a server");
        for (call, refused) in [
            (".with_model(..)", options().with_model(" ")),
            (
                ".with_mcp_server(..)",
                options().with_mcp_server("", server),
            ),
            (
                ".with_answer_limit(0)",
                options().with_answer_limit(Duration::ZERO),
            ),
            (
                ".with_start_limit(0)",
                options().with_start_limit(Duration::ZERO),
            ),
            (
                ".with_silence_limit(0)",
                options().with_silence_limit(Duration::ZERO),
            ),
        ] {
            assert_option_refused(&AcpAgents::new(refused), call).await;
        }
    }
}
