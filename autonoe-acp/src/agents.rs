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
        probe(&self.options).await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        check(&self.options, &spec)?;
        Ok(Box::new(ProgramClient::<Live>::new(
            self.options.clone(),
            spec,
        )))
    }
}
