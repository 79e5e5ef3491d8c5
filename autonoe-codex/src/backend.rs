//! [`CodexBackend`], the Codex backend.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::ProgramClient;
use autonoe_core::agent::SessionField;
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};

use crate::launch::{CodexOptions, LaunchPlan, claims};
use crate::probe::{prepare_state, version};
use crate::session::Connection;

/// Codex as a backend.
///
/// Codex requests permission for commands, patches and tool calls, but not for resources that an
/// agent reads from MCP servers. So a run needs an outer sandbox, which it sets with
/// [`OuterSandbox::bubblewrap`](autonoe_core::agent::OuterSandbox::bubblewrap):
///
/// ```
/// use autonoe_codex::{CodexBackend, CodexOptions, CodexProvider};
///
/// // The embedding program chooses the variables that Codex sees.
/// let environment = ["PATH", "OPENAI_API_KEY"]
///     .into_iter()
///     .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
/// let mut options = CodexOptions::new("/usr/local/bin/codex", environment);
/// options.provider = Some(CodexProvider::new("https://api.openai.com/v1", "OPENAI_API_KEY"));
/// options.program.sandbox.hidden.push("/home/ada/.ssh".into());
///
/// let agents = CodexBackend::new(options);
/// ```
#[derive(Clone, Debug)]
pub struct CodexBackend {
    options: Arc<CodexOptions>,
}

impl CodexBackend {
    /// Creates a backend with `options`.
    pub fn new(options: CodexOptions) -> Self {
        Self {
            options: Arc::new(options),
        }
    }
}

#[async_trait]
impl AgentClientFactory for CodexBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.options.program.check_values()?;
        let sandbox = &self.options.program.sandbox;
        let (version, remedy, ()) = tokio::join!(
            version(&self.options),
            sandbox.remedy(),
            prepare_state(&self.options),
        );
        Ok(claims(&self.options)
            .with_version(version?)
            .with_remedy(SessionField::Sandbox, remedy))
    }

    fn create(&self, mut spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.options.program.check_values()?;
        self.options.program.complete(&mut spec);
        LaunchPlan::check(&self.options, &spec)?;
        Ok(Box::new(ProgramClient::<Connection>::new(
            self.options.clone(),
            spec,
        )))
    }
}

#[cfg(test)]
mod tests {
    use autonoe_testkit::conformance::assert_option_refused;

    use super::*;
    use crate::launch::CodexHome;

    #[tokio::test]
    async fn options_with_which_nothing_could_run_are_refused_by_their_names() {
        let mut options = CodexOptions::new("/usr/bin/codex", []);
        options.program.model = Some(" ".into());
        assert_option_refused(&CodexBackend::new(options), ".program.model").await;
    }

    #[test]
    fn a_refusal_names_the_setting_that_lifts_it() {
        let mut options = CodexOptions::new("/usr/bin/codex", []);
        options.home = CodexHome::PerSession;
        for (field, way) in [
            (SessionField::Resume, "`home`"),
            (SessionField::Sandbox, "OuterSandbox::bubblewrap()"),
        ] {
            let refused = claims(&options).require([field]).expect_err(way);

            let sentence = format!("codex does not support the setting `{}`: ", field.name());
            assert!(refused.to_string().starts_with(&sentence), "{refused}");
            let remedy = refused.remedy().unwrap_or_default();
            assert!(remedy.contains(way), "{remedy}");
        }
    }
}
