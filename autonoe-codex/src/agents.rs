//! Makes clients, and looks whether there is anything to make them of.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::ProgramClient;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, SessionField, SessionSpec,
};

use crate::launch::{CodexOptions, LaunchPlan, claims, completed};
use crate::probe::version;
use crate::session::Live;

/// Codex as a backend.
///
/// It asks about commands, patches and calls, but not about resources that an agent reads from
/// MCP servers. So a run needs an outer sandbox, and is told so by
/// [`OuterSandbox::bubblewrap`](autonoe_core::OuterSandbox::bubblewrap):
///
/// ```
/// use autonoe_codex::{CodexAgents, CodexOptions, CodexProvider};
///
/// // Who embeds the library decides what the program gets to see.
/// let environment = ["PATH", "OPENAI_API_KEY"]
///     .into_iter()
///     .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
/// let mut options = CodexOptions::new("/usr/local/bin/codex", environment)
///     .with_provider(CodexProvider::new("https://api.openai.com/v1", "OPENAI_API_KEY"));
/// options.walls.hidden.push("/home/ada/.ssh".into());
///
/// let agents = CodexAgents::new(options);
/// ```
#[derive(Clone, Debug)]
pub struct CodexAgents {
    options: Arc<CodexOptions>,
}

impl CodexAgents {
    /// Makes a backend of `options`.
    pub fn new(options: CodexOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }
}

#[async_trait]
impl AgentClientFactory for CodexAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.options.check_values()?;
        let version = version(&self.options).await?;
        Ok(claims(&self.options)
            .with_version(version)
            .with_remedy(SessionField::Sandbox, self.options.walls.remedy()))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.options.check_values()?;
        let spec = completed(&self.options, spec);
        LaunchPlan::check(&self.options, &spec)?;
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
    use crate::launch::CodexHome;

    #[tokio::test]
    async fn options_with_which_nothing_could_run_are_refused_by_the_name_of_their_call() {
        let options = || CodexOptions::new("/usr/bin/codex", []);
        let server: McpServer = serde_json::from_str(r#"{"command": "node"}"#).expect("a server");
        for (call, refused) in [
            (".with_model(..)", options().with_model(" ")),
            (
                ".with_mcp_server(..)",
                options().with_mcp_server("", server),
            ),
            (
                ".with_silence_limit(0)",
                options().with_silence_limit(Duration::ZERO),
            ),
        ] {
            assert_option_refused(&CodexAgents::new(refused), call).await;
        }
    }

    #[test]
    fn a_refusal_names_what_lifts_it() {
        let mut options = CodexOptions::new("/usr/bin/codex", []);
        options.home = CodexHome::PerSession;
        for (field, way) in [
            (SessionField::Resume, "`home`"),
            (SessionField::Sandbox, "OuterSandbox::bubblewrap()"),
        ] {
            let refused = claims(&options).require([field]).expect_err(way);

            let sentence = format!(
                "codex does not support the session field `{}`: ",
                field.name()
            );
            assert!(refused.to_string().starts_with(&sentence), "{refused}");
            let remedy = refused.remedy().unwrap_or_default();
            assert!(remedy.contains(way), "{remedy}");
        }
    }
}
