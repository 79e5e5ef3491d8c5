//! Any agent of the protocol from a configuration file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_backend::{SandboxSpec, check_limit, check_model};
use autonoe_core::{
    AgentClientFactory, BackendProbe, BackendSpec, Capabilities, McpServer, OuterSandbox,
    SpecContext, SpecError,
};
use autonoe_process::find_program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::probe::{missing_program, probe_agent};
use crate::agents::AcpAgents;
use crate::launch::{AcpOptions, HomeFolder, claims};

/// Describes an agent of the protocol in a configuration file: `{"type": "acp", ..}`.
///
/// What the program starts with, its credentials among it, is the environment of the
/// [`SpecContext`], and nothing else.
///
/// ```
/// use autonoe_acp as _;
/// use autonoe_core::BackendSpec;
///
/// let json = r#"{"type": "acp", "command": "goose", "args": ["acp"]}"#;
/// let backend: Box<dyn BackendSpec> = serde_json::from_str(json)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AcpBackend {
    /// The program: an absolute path, or a name that is looked for by `PATH`.
    pub command: PathBuf,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Names it in reports; without it, the program does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model of sessions that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The argument before the name of a model. Without it no session can name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_argument: Option<String>,
    /// Variables with the credentials of the agent itself, which it gets although its tools may
    /// inherit them; without it, the keys of known model services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variables: Option<Vec<String>>,
    /// MCP servers that every session has, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Where the agent keeps its login and conversations.
    #[serde(default)]
    pub home: HomeFolder,
    /// How the outer sandbox is made, for a run that has one.
    #[serde(default)]
    pub sandbox: SandboxSpec,
    /// Where the temporary folders of sessions are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<PathBuf>,
    /// How many seconds the agent may say nothing while it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u64>,
}

impl AcpBackend {
    const TAG: &str = "acp";

    /// Says the same as options, for a program that starts with the environment of `context`.
    ///
    /// # Errors
    ///
    /// The program is not found. Or a value makes no sense.
    pub fn options(&self, context: &SpecContext) -> Result<AcpOptions, SpecError> {
        check_model(Self::TAG, self.model.as_deref())?;
        check_limit(Self::TAG, "silenceSeconds", self.silence_seconds)?;
        let program = match self.command.is_absolute() {
            true => Some(self.command.clone()),
            false => {
                let path = context.environment.get(OsStr::new("PATH"));
                let name = self.command.to_str();
                path.zip(name)
                    .and_then(|(path, name)| find_program(name, path))
            }
        };
        let program = program.ok_or_else(|| {
            let command = self.command.display();
            SpecError::new(
                Self::TAG,
                format!("the program {command} is in no folder of PATH"),
            )
        })?;
        Ok(self.options_for(program, &context.environment))
    }

    /// Says the same as options, for `program` with this environment.
    fn options_for(
        &self,
        program: PathBuf,
        environment: &BTreeMap<OsString, OsString>,
    ) -> AcpOptions {
        let spec = self.clone();
        let stem = spec.command.file_stem().unwrap_or(OsStr::new(Self::TAG));
        let name = spec
            .name
            .unwrap_or_else(|| stem.to_string_lossy().into_owned());
        let mut options = AcpOptions::new(name, program, environment.clone());
        options.args = spec.args.into_iter().map(Into::into).collect();
        options.model = spec.model;
        options.model_argument = spec.model_argument.map(Into::into);
        options.key_variables = spec.key_variables.unwrap_or(options.key_variables);
        options.mcp_servers = spec.mcp_servers;
        options.home = spec.home;
        spec.sandbox.apply(&mut options.walls);
        options.temporary = spec.temporary.unwrap_or(options.temporary);
        let silence = spec.silence_seconds.map(Duration::from_secs);
        options.silence_limit = silence.unwrap_or(options.silence_limit);
        options
    }
}

#[typetag::serde(name = "acp")]
#[async_trait]
impl BackendSpec for AcpBackend {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        Ok(Arc::new(AcpAgents::new(self.options(context)?)))
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        match self.options(context) {
            Ok(options) => probe_agent(Self::TAG, &options).await,
            Err(error) => {
                let remedy = "install it, or write its whole path";
                missing_program(Self::TAG, error.reason(), remedy)
            }
        }
    }

    fn claims(&self) -> Option<Capabilities> {
        Some(claims(
            &self.options_for(self.command.clone(), &BTreeMap::new()),
        ))
    }

    fn outer_sandbox(&self) -> Option<OuterSandbox> {
        Some(OuterSandbox::bubblewrap())
    }
}

autonoe_core::register_spec!(Backend, AcpBackend, "acp", {
    "command": "goose",
    "args": ["acp"],
    "sandbox": {"network": "shared"}
});

#[cfg(test)]
mod tests {
    use autonoe_backend::SandboxNetwork;
    use autonoe_core::ProjectPaths;
    use serde_json::json;

    use super::*;

    fn context(path: &str) -> SpecContext {
        SpecContext::new(ProjectPaths::new("/srv/project"))
            .with_environment([("PATH".into(), path.into())])
    }

    #[test]
    fn what_a_file_says_is_in_the_options() {
        let spec = json!({
            "command": "/opt/agent", "args": ["serve"], "name": "mine", "model": "m",
            "modelArgument": "-m", "mcpServers": {"search": {"command": "search"}},
            "home": {"kept": "/var/agent"}, "temporary": "/var/tmp", "silenceSeconds": 60,
            "sandbox": {"bubblewrap": "/opt/bwrap", "network": "off", "hidden": ["/secret"]},
        });
        let spec: AcpBackend = serde_json::from_value(spec).expect("a spec");

        let options = spec.options(&context("/bin")).expect("it is named");

        assert_eq!(
            (options.name.as_str(), options.program),
            ("mine", "/opt/agent".into())
        );
        assert_eq!(options.args, ["serve"]);
        assert_eq!(options.model.as_deref(), Some("m"));
        assert_eq!(options.model_argument, Some("-m".into()));
        assert_eq!(options.home, HomeFolder::Kept("/var/agent".into()));
        assert_eq!(options.walls.bubblewrap, Some("/opt/bwrap".into()));
        assert_eq!(options.walls.network, SandboxNetwork::Off);
        assert_eq!(options.walls.hidden, [PathBuf::from("/secret")]);
        assert_eq!(options.silence_limit, Duration::from_secs(60));
        assert!(options.mcp_servers.contains_key("search"));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let spec: AcpBackend = serde_json::from_value(json!({"command": "nobody"})).expect("one");

        let error = spec
            .options(&context("/nowhere"))
            .expect_err("there is none");

        assert!(error.to_string().contains("nobody"), "{error}");
    }

    #[test]
    fn a_file_with_a_mistake_is_an_error() {
        for mistake in [
            json!({}),
            json!({"command": "x", "modle": "y"}),
            json!({"command": "x", "sandbox": {"network": "maybe"}}),
            json!({"command": "x", "sandbox": {"hide": []}}),
        ] {
            assert!(serde_json::from_value::<AcpBackend>(mistake).is_err());
        }
    }
}
