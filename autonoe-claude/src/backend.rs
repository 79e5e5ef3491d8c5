//! [`ClaudeBackend`], the Claude Code backend, and its [`ClaudePermissionMode`].

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::ProgramClient;
use autonoe_core::agent::{SessionField, Support};
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};

use crate::launch::{ClaudeOptions, LaunchPlan, UserExcludes, claims, with_defaults};
use crate::probe::{Login, Probe, not_logged_in, probe};
use crate::session::Connection;

/// Claude Code as a backend.
///
/// ```
/// use autonoe_claude::{ClaudeBackend, ClaudeOptions};
///
/// // The embedding program chooses the variables that Claude Code sees.
/// let environment = ["PATH", "HOME", "CLAUDE_CODE_OAUTH_TOKEN"]
///     .into_iter()
///     .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
///
/// let agents = ClaudeBackend::new(ClaudeOptions::new("/usr/local/bin/claude", environment));
/// ```
#[derive(Clone, Debug)]
pub struct ClaudeBackend {
    options: Arc<ClaudeOptions>,
}

impl ClaudeBackend {
    /// Creates a backend with `options`.
    pub fn new(mut options: ClaudeOptions) -> Self {
        // The environment may differ from that of the options that these were cloned from.
        options.user_excludes = UserExcludes::default();
        Self {
            options: Arc::new(options),
        }
    }

    /// Probes in more detail than [`probe`](AgentClientFactory::probe), for a command that reports
    /// missing requirements.
    ///
    /// # Errors
    ///
    /// The program is missing, or does not look like Claude Code. Missing credentials are not an
    /// error here.
    pub async fn probe_details(&self) -> Result<Probe, AgentError> {
        probe(&self.options).await
    }
}

#[async_trait]
impl AgentClientFactory for ClaudeBackend {
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
        let spec = with_defaults(&self.options, spec);
        LaunchPlan::check(&self.options, &spec)?;
        Ok(Box::new(ProgramClient::<Connection>::new(
            self.options.clone(),
            spec,
        )))
    }
}

/// The program's treatment of calls that no hook decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClaudePermissionMode {
    /// It requests permission.
    Default,
    /// Files in the project may be changed; it requests permission for the rest.
    AcceptEdits,
    /// It only plans.
    Plan,
    /// It refuses calls that are not allowed.
    DontAsk,
}

impl ClaudePermissionMode {
    /// Returns the program's name of the mode.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::CostUsd;
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

            let sentence = format!("claude does not support the setting `{}`: ", field.name());
            assert!(refused.to_string().starts_with(&sentence), "{refused}");
            let remedy = refused.remedy().unwrap_or_default();
            assert!(remedy.contains(setting), "{remedy}");
        }
    }

    #[tokio::test]
    async fn options_with_which_nothing_could_run_are_refused_by_their_names() {
        let refuse: [(_, fn(&mut ClaudeOptions)); 3] = [
            (".max_turns", |it| it.max_turns = Some(0)),
            (".max_cost", |it| it.max_cost = Some(CostUsd::ZERO)),
            (".program.model", |it| it.program.model = Some(" ".into())),
        ];
        for (name, set) in refuse {
            let mut options = ClaudeOptions::new("/usr/bin/claude", []);
            set(&mut options);
            assert_option_refused(&ClaudeBackend::new(options), name).await;
        }
    }

    #[test]
    fn a_conversation_in_a_session_folder_cannot_be_resumed() {
        for (config, support) in [
            (ConfigFolder::User, Support::Yes),
            (ConfigFolder::Persistent("/srv/claude".into()), Support::Yes),
            (ConfigFolder::PerSession, Support::No),
        ] {
            let mut options = ClaudeOptions::new("/usr/bin/claude", []);
            options.config = config.clone();

            assert_eq!(claims(&options).resume, support, "{config:?}");
        }
    }
}
