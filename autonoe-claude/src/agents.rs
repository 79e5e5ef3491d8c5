//! Makes clients, and looks whether there is anything to make them of.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::ProgramClient;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, SessionField, SessionSpec, Support,
};

use crate::launch::{ClaudeOptions, LaunchPlan, claims, completed};
use crate::probe::{Login, Probe, not_logged_in, probe};
use crate::session::Live;

/// Claude Code as a backend.
///
/// ```
/// use autonoe_claude::{ClaudeAgents, ClaudeOptions};
///
/// // Who embeds the library decides what the program gets to see.
/// let environment = ["PATH", "HOME", "CLAUDE_CODE_OAUTH_TOKEN"]
///     .into_iter()
///     .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
///
/// let agents = ClaudeAgents::new(ClaudeOptions::new("/usr/local/bin/claude", environment));
/// ```
#[derive(Clone, Debug)]
pub struct ClaudeAgents {
    options: Arc<ClaudeOptions>,
}

impl ClaudeAgents {
    /// Makes a backend of `options`.
    pub fn new(options: ClaudeOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }

    /// Looks closer than [`probe`](AgentClientFactory::probe): for a command that tells what is missing.
    ///
    /// # Errors
    ///
    /// The program is not there, or does not look like Claude Code. That it has no credentials
    /// is no error here.
    pub async fn examine(&self) -> Result<Probe, AgentError> {
        probe(&self.options).await
    }
}

#[async_trait]
impl AgentClientFactory for ClaudeAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.options.check_values()?;
        let found = probe(&self.options).await?;
        if found.login == Login::Missing {
            return Err(not_logged_in());
        }
        if let Some(problem) = found.directory_problem {
            return Err(problem);
        }
        let claims = claims(&self.options).with_version(found.version);
        Ok(match found.sandbox_problem {
            None => claims,
            Some(problem) => claims
                .with_sandbox(Support::No)
                .with_sandbox_problem(problem.reason)
                .with_remedy(SessionField::Sandbox, problem.remedy),
        })
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

    use autonoe_core::{CostUsd, McpServer};
    use autonoe_testkit::conformance::assert_option_refused;

    use super::*;
    use crate::launch::{ConfigFolder, SettingSources};

    #[test]
    fn a_refusal_names_the_setting_of_the_backend_that_lifts_it() {
        let mut options = ClaudeOptions::new("/usr/bin/claude", []);
        options.config = ConfigFolder::PerSession;
        options.setting_sources = SettingSources::Project;
        for (field, setting) in [
            (SessionField::Resume, "`config`"),
            (SessionField::ProjectMemory, "`settingSources`"),
        ] {
            let refused = claims(&options).require([field]).expect_err(setting);

            let sentence = format!(
                "claude does not support the session field `{}`: ",
                field.name()
            );
            assert!(refused.to_string().starts_with(&sentence), "{refused}");
            let remedy = refused.remedy().unwrap_or_default();
            assert!(remedy.contains(setting), "{remedy}");
        }
    }

    #[tokio::test]
    async fn options_with_which_nothing_could_run_are_refused_by_the_name_of_their_call() {
        let options = || ClaudeOptions::new("/usr/bin/claude", []);
        let server: McpServer = serde_json::from_str(r#"{"command": "node"}"#).expect("a server");
        for (call, refused) in [
            (".with_model(..)", options().with_model(" ")),
            (".with_max_turns(0)", options().with_max_turns(0)),
            (".with_max_cost(0)", options().with_max_cost(CostUsd::ZERO)),
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
            assert_option_refused(&ClaudeAgents::new(refused), call).await;
        }
    }

    #[test]
    fn a_conversation_that_goes_with_its_session_cannot_be_resumed() {
        for (config, support) in [
            (ConfigFolder::OfTheUser, Support::Yes),
            (ConfigFolder::Kept("/srv/claude".into()), Support::Yes),
            (ConfigFolder::PerSession, Support::No),
        ] {
            let mut options = ClaudeOptions::new("/usr/bin/claude", []);
            options.config = config.clone();

            assert_eq!(claims(&options).resume, support, "{config:?}");
        }
    }
}
