//! Agents on a model, without MCP servers.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentConfig, AgentError, Capabilities, ConfigError,
    ConfigFile, Mode, Project, SessionSpec,
};

/// What becomes of the MCP servers of a project on a backend that has none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Servers {
    /// There are none.
    None,
    /// The built-in browser is left out.
    BrowserLeftOut,
}

impl Servers {
    /// What a person is told of the browser.
    pub(crate) const LEFT_OUT: &str = "the built-in browser is left out: agents on a model have no \
        MCP servers; \"mcpServers\": {} in .autonoe/agent.json does without it for good";

    /// Looks at the settings of a project.
    ///
    /// # Errors
    ///
    /// Somebody has configured a server, which must not be left out in silence.
    pub(crate) fn of(project: &Project, mode: Mode) -> Result<Self, ConfigError> {
        let path = project.config_path();
        let config = AgentConfig::load(&path)?.unwrap_or_default();
        let Some(servers) = config.mcp_servers else {
            return Ok(match mode {
                Mode::Run => Self::BrowserLeftOut,
                Mode::Sync => Self::None,
            });
        };
        let (Some(name), Some(file)) = (servers.keys().next(), ConfigFile::load(&path)?) else {
            return Ok(Self::None);
        };
        let hint = "write \"mcpServers\": {} to do without, or use --backend claude".to_owned();
        let message = "agents on a model have no MCP servers";
        Err(file.problem(&ConfigFile::below("/mcpServers", name), message, hint))
    }
}

/// Starts sessions without the built-in browser.
pub(crate) struct WithoutServers(pub(crate) Arc<dyn AgentClientFactory>);

#[async_trait]
impl AgentClientFactory for WithoutServers {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.0.probe().await
    }

    fn create(&self, mut spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        spec.mcp_servers.clear();
        self.0.create(spec)
    }
}
