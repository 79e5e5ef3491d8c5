//! [`AcpBackend`], the backend for agents of the Agent Client Protocol.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::ProgramClient;
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};

use crate::launch::{AcpOptions, check};
use crate::probe::probe;
use crate::session::RunningAgent;

/// Backend for an agent of the Agent Client Protocol.
///
/// ```
/// use autonoe_acp::{AcpBackend, AcpOptions};
///
/// // The embedding program chooses the variables that the agent sees.
/// let environment = ["PATH", "GEMINI_API_KEY"]
///     .into_iter()
///     .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
///
/// let script = "/opt/gemini/bundle/gemini.js";
/// let mut gemini = AcpOptions::gemini("/usr/bin/node", script, environment);
/// gemini.program.model = Some("gemini-2.5-flash".into());
/// let agents = AcpBackend::new(gemini);
/// ```
#[derive(Clone, Debug)]
pub struct AcpBackend {
    options: Arc<AcpOptions>,
}

impl AcpBackend {
    /// Creates a backend with `options`.
    pub fn new(options: AcpOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }
}

#[async_trait]
impl AgentClientFactory for AcpBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.options.program.check_values()?;
        probe(&self.options).await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.options.program.check_values()?;
        check(&self.options, &spec)?;
        Ok(Box::new(ProgramClient::<RunningAgent>::new(
            self.options.clone(),
            spec,
        )))
    }
}

#[cfg(test)]
mod tests {
    use autonoe_testkit::conformance::assert_option_refused;

    use super::*;

    #[tokio::test]
    async fn options_with_which_nothing_could_run_are_refused_by_their_names() {
        let mut options = AcpOptions::new("agent", "/usr/bin/agent", []);
        options.program.model = Some(" ".into());
        assert_option_refused(&AcpBackend::new(options), ".program.model").await;
    }
}
