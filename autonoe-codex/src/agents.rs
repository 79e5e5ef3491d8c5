//! Makes clients, and looks whether there is anything to make them of.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, HookCoverage, SessionSpec, Support,
    ToldEvents,
};

use crate::launch::{CodexHome, CodexOptions, LaunchPlan, completed};
use crate::probe::version;
use crate::session::CodexClient;

/// Codex as a backend.
///
/// It asks about commands, patches and calls, but not about what an agent types into a command
/// that still runs. So a run needs an outer sandbox, for example the one of
/// [`CodexOptions::outer_sandbox`], and must be told of it:
///
/// ```
/// use autonoe_codex::{CodexAgents, CodexOptions, CodexProvider};
/// use autonoe_core::OuterSandbox;
/// use autonoe_process::OsSandbox;
///
/// // Who embeds the library decides what the program gets to see.
/// let environment = ["PATH", "OPENAI_API_KEY"]
///     .into_iter()
///     .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
/// let options = CodexOptions::new("/usr/local/bin/codex", environment)
///     .with_provider(CodexProvider::new("https://api.openai.com/v1", "OPENAI_API_KEY"))
///     .with_outer_sandbox(OsSandbox::new("/usr/bin/bwrap"));
///
/// let agents = CodexAgents::new(options);
///
/// // For `SessionRunnerBuilder::outer_sandbox`.
/// let sandbox: Option<OuterSandbox> = agents.outer_sandbox();
/// # assert!(sandbox.is_some());
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

    /// Returns the sandbox that every session runs in, if these agents make one.
    ///
    /// A session starts in it or not at all.
    pub fn outer_sandbox(&self) -> Option<autonoe_core::OuterSandbox> {
        let sandbox = self.options.outer_sandbox.as_ref()?;
        sandbox.check().ok().map(|()| autonoe_core::OuterSandbox {
            name: "bubblewrap".to_owned(),
        })
    }
}

#[async_trait]
impl AgentClientFactory for CodexAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        let version = version(&self.options).await?;
        let capabilities = Capabilities::new("codex")
            .with_version(version)
            // What is typed into a running command, and reading resources, is not asked about.
            .with_hooks(HookCoverage::AskedOnly)
            .with_quota_reset(Support::Yes)
            .with_resume(match self.options.home {
                CodexHome::PerSession => Support::No,
                CodexHome::Kept(_) => Support::Yes,
            })
            .with_in_process_tools(Support::Yes)
            .with_steering(Support::Yes)
            .with_events(
                ToldEvents::default()
                    .with_model_calls(Support::Yes)
                    .with_model_chunks(Support::Yes),
            );
        let sandbox = match &self.options.outer_sandbox {
            Some(sandbox) => sandbox.check().map_err(|error| error.to_string()),
            None => Err("give Codex an outer sandbox: its own can be left".to_owned()),
        };
        Ok(match sandbox {
            Ok(()) => capabilities.with_sandbox(Support::Yes),
            Err(remedy) => capabilities.with_sandbox_remedy(remedy),
        })
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let spec = completed(&self.options, spec);
        LaunchPlan::check(&self.options, &spec)?;
        Ok(Box::new(CodexClient::new(self.options.clone(), spec)))
    }
}
