//! Applies an [`EffectiveConfig`] to the builder of a run.

use super::{ConfigError, ConfigErrorKind, EffectiveConfig};
use crate::run::SessionRunnerBuilder;
use crate::spec::SpecContext;

impl EffectiveConfig {
    /// Applies mode, Bash policy, grants, hooks, MCP servers, credential filter, sandbox and
    /// project memory to a run.
    ///
    /// ```
    /// use autonoe_core::gate::ProjectPaths;
    /// use autonoe_core::project::{EffectiveConfig, SandboxSwitch};
    /// use autonoe_core::spec::SpecContext;
    /// use autonoe_core::{Mode, SessionRunner};
    ///
    /// let effective = EffectiveConfig::merge(None, Mode::Run, SandboxSwitch::default())?;
    /// let context = SpecContext::new(ProjectPaths::new("/srv/project"));
    ///
    /// let builder = effective.apply(SessionRunner::builder("/srv/project"), &context)?;
    /// # drop(builder);
    /// # Ok::<(), autonoe_core::project::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A hook cannot be built.
    pub fn apply(
        self,
        builder: SessionRunnerBuilder,
        context: &SpecContext,
    ) -> Result<SessionRunnerBuilder, ConfigError> {
        let mut builder = builder
            .mode(self.mode)
            .sandbox(self.sandbox.sandbox())
            .project_memory(self.project_memory())
            .credential_filter(self.credential_filter().clone())
            .bash_policy(self.bash().clone());
        // The runner adds the baseline itself, so that no caller can forget it.
        for rule in self.grants.rules() {
            builder = builder.grant(rule.clone());
        }
        for (index, spec) in self.config.hooks.iter().enumerate() {
            let hook = spec.build(context).map_err(|error| {
                let error = ConfigError::new(ConfigErrorKind::Hook, error.to_string())
                    .hint("fix the hook or remove it".to_owned());
                self.config.place(&format!("/hooks/{index}"), error)
            })?;
            builder = builder.hook(hook);
        }
        for (name, server) in &self.mcp_servers {
            builder = if self.is_optional_server(name) {
                builder.optional_mcp_server(name, server.clone())
            } else {
                builder.mcp_server(name, server.clone())
            };
        }
        Ok(builder)
    }
}
