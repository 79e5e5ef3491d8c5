//! [`AcpSpec`], the description of any ACP agent in a configuration file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::{ProgramFields, SandboxConfig, check_limit, check_model};
use autonoe_core::agent::{BackendProbe, OuterSandbox};
use autonoe_core::spec::{BackendSpec, SpecContext, SpecError};
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentClientFactory, AgentError, Capabilities};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{missing_program, probe_agent};
use crate::backend::AcpBackend;
use crate::launch::{AcpOptions, HomeFolder, claims};

/// Configures any ACP agent: `{"type": "acp", ..}`.
///
/// The program starts with the environment of the [`SpecContext`], which includes its credentials,
/// and nothing else.
///
/// ```
/// use autonoe_acp as _;
/// use autonoe_core::spec::BackendSpec;
///
/// let json = r#"{"type": "acp", "command": "goose", "args": ["acp"]}"#;
/// let backend: Box<dyn BackendSpec> = serde_json::from_str(json)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AcpSpec {
    /// The program: an absolute path, or a name on `PATH`.
    pub command: PathBuf,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The name of the agent in reports. The default is the name of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model of sessions that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The argument before the name of a model. Without it, no session can name a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_argument: Option<String>,
    /// Variables with the credentials of the agent itself, which it gets although its tools may
    /// inherit them. The default is the keys of known model services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variables: Option<Vec<String>>,
    /// MCP servers that every session has, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The home folder with the agent's login and conversations.
    #[serde(default)]
    pub home: HomeFolder,
    /// The outer sandbox, for a run that has one.
    #[serde(default)]
    pub sandbox: SandboxConfig,
    /// The directory for the temporary folders of sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary: Option<PathBuf>,
    /// The maximum silence of the agent during a turn, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u64>,
}

impl AcpSpec {
    const TAG: &str = "acp";

    /// Converts the spec to options, for a program that starts with the environment of `context`.
    ///
    /// # Errors
    ///
    /// The program is not found, or a value is invalid.
    pub fn options(&self, context: &SpecContext) -> Result<AcpOptions, SpecError> {
        check_model(Self::TAG, self.model.as_deref())?;
        check_limit(Self::TAG, "silenceSeconds", self.silence_seconds)?;
        let mut options = self.options_for(&context.environment);
        if !self.command.is_absolute() {
            let name = self.command.to_string_lossy();
            let found = options.program.find(&name, "it");
            let missing = |error: AgentError| SpecError::new(Self::TAG, error.to_string());
            options.program.path = found.map_err(missing)?;
        }
        Ok(options)
    }

    /// Converts the spec to options with this environment.
    fn options_for(&self, environment: &BTreeMap<OsString, OsString>) -> AcpOptions {
        let spec = self.clone();
        let stem = spec.command.file_stem().unwrap_or(OsStr::new(Self::TAG));
        let name = spec
            .name
            .unwrap_or_else(|| stem.to_string_lossy().into_owned());
        let mut options = AcpOptions::new(name, spec.command, environment.clone());
        options.args = spec.args.into_iter().map(Into::into).collect();
        options.program.apply(ProgramFields {
            model: spec.model,
            sandbox: spec.sandbox,
            mcp_servers: spec.mcp_servers,
            temporary: spec.temporary,
            silence_seconds: spec.silence_seconds,
        });
        options.model_argument = spec.model_argument.map(Into::into);
        options.key_variables = spec.key_variables.unwrap_or(options.key_variables);
        options.home = spec.home;
        options
    }
}

#[typetag::serde(name = "acp")]
#[async_trait]
impl BackendSpec for AcpSpec {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        Ok(Arc::new(AcpBackend::new(self.options(context)?)))
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        match self.options(context) {
            Ok(options) => probe_agent(Self::TAG, &options).await,
            Err(error) => {
                let remedy = "install it, or write its absolute path";
                missing_program(Self::TAG, error.reason(), remedy)
            }
        }
    }

    fn claims(&self) -> Option<Capabilities> {
        Some(claims(&self.options_for(&BTreeMap::new())))
    }

    fn outer_sandbox(&self) -> Option<OuterSandbox> {
        Some(OuterSandbox::bubblewrap())
    }
}

autonoe_core::register_spec!(Backend, AcpSpec, "acp", {
    "command": "goose",
    "args": ["acp"],
    "sandbox": {"network": "shared"}
});

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use autonoe_backend::SandboxNetwork;
    use autonoe_core::gate::ProjectPaths;
    use serde_json::json;

    use super::*;

    fn context(path: &str) -> SpecContext {
        SpecContext::new(ProjectPaths::new("/srv/project"))
            .with_environment([("PATH".into(), path.into())])
    }

    #[test]
    fn spec_fields_set_the_options() {
        let spec = json!({
            "command": "/opt/agent", "args": ["serve"], "name": "mine", "model": "m",
            "modelArgument": "-m", "mcpServers": {"search": {"command": "search"}},
            "home": {"persistent": "/var/agent"}, "temporary": "/var/tmp", "silenceSeconds": 60,
            "sandbox": {"bubblewrap": "/opt/bwrap", "network": "off", "hidden": ["/secret"]},
        });
        let spec: AcpSpec = serde_json::from_value(spec).expect("a spec");

        let options = spec.options(&context("/bin")).expect("it is named");

        assert_eq!(
            (options.name.as_str(), options.program.path),
            ("mine", "/opt/agent".into())
        );
        assert_eq!(options.args, ["serve"]);
        assert_eq!(options.program.model.as_deref(), Some("m"));
        assert_eq!(options.model_argument, Some("-m".into()));
        assert_eq!(options.home, HomeFolder::Persistent("/var/agent".into()));
        assert_eq!(
            options.program.sandbox.bubblewrap,
            Some("/opt/bwrap".into())
        );
        assert_eq!(options.program.sandbox.network, SandboxNetwork::Off);
        assert_eq!(options.program.sandbox.hidden, [PathBuf::from("/secret")]);
        assert_eq!(options.program.silence_limit, Duration::from_secs(60));
        assert!(options.program.mcp_servers.contains_key("search"));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let spec: AcpSpec = serde_json::from_value(json!({"command": "nobody"})).expect("one");

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
            assert!(serde_json::from_value::<AcpSpec>(mistake).is_err());
        }
    }
}
