//! [`GeminiSpec`], the description of Gemini CLI in a configuration file.

use std::collections::BTreeMap;
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

use super::{missing_program, probe_gemini};
use crate::backend::AcpBackend;
use crate::launch::{AcpOptions, HomeFolder, claims};

/// Configures Gemini CLI: `{"type": "gemini", ..}`.
///
/// All fields are optional. The program starts with the environment of the [`SpecContext`], which
/// includes its key, and nothing else.
///
/// ```
/// use autonoe_acp as _;
/// use autonoe_core::spec::BackendSpec;
///
/// let json = r#"{"type": "gemini", "model": "gemini-2.5-flash"}"#;
/// let backend: Box<dyn BackendSpec> = serde_json::from_str(json)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct GeminiSpec {
    /// The script `gemini.js`. The default is the `gemini` on `PATH`. Node.js is always searched
    /// for on `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<PathBuf>,
    /// The model of sessions that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// MCP servers that every session has, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The home folder with its login and conversations. By default each session has a fresh home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<HomeFolder>,
    /// The outer sandbox, for a run that has one.
    pub sandbox: SandboxConfig,
    /// The directory for the temporary folders of sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporary: Option<PathBuf>,
    /// The maximum silence of the program during a turn, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u64>,
}

impl GeminiSpec {
    const TAG: &str = "gemini";

    /// Converts the spec to options, for a program that starts with the environment of `context`.
    ///
    /// # Errors
    ///
    /// Gemini CLI or Node.js is not found, or a value is invalid.
    pub fn options(&self, context: &SpecContext) -> Result<AcpOptions, SpecError> {
        check_model(Self::TAG, self.model.as_deref())?;
        check_limit(Self::TAG, "silenceSeconds", self.silence_seconds)?;
        let environment = context.environment.clone();
        let missing = |error: AgentError| SpecError::new(Self::TAG, error.to_string());
        let mut options = match &self.script {
            None => AcpOptions::gemini_on_path(environment).map_err(missing)?,
            Some(script) => {
                let mut options = AcpOptions::gemini("node", script, environment);
                let node = options.program.find("node", "Node.js");
                options.program.path = node.map_err(missing)?;
                options
            }
        };
        self.apply(&mut options);
        Ok(options)
    }

    /// Sets everything but the programs and their environment.
    fn apply(&self, options: &mut AcpOptions) {
        let spec = self.clone();
        options.program.apply(ProgramFields {
            model: spec.model,
            sandbox: spec.sandbox,
            mcp_servers: spec.mcp_servers,
            temporary: spec.temporary,
            silence_seconds: spec.silence_seconds,
        });
        if let Some(home) = spec.home {
            options.home = home;
        }
    }
}

#[typetag::serde(name = "gemini")]
#[async_trait]
impl BackendSpec for GeminiSpec {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        Ok(Arc::new(AcpBackend::new(self.options(context)?)))
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        match self.options(context) {
            Ok(options) => probe_gemini(&options).await,
            Err(error) => {
                let remedy = "install Node.js and Gemini CLI (npm install -g @google/gemini-cli)";
                missing_program(Self::TAG, error.reason(), remedy)
            }
        }
    }

    fn claims(&self) -> Option<Capabilities> {
        let mut options = AcpOptions::gemini("node", "gemini.js", []);
        self.apply(&mut options);
        Some(claims(&options))
    }

    fn outer_sandbox(&self) -> Option<OuterSandbox> {
        Some(OuterSandbox::bubblewrap())
    }
}

autonoe_core::register_spec!(Backend, GeminiSpec, "gemini", {
    "model": "gemini-2.5-flash",
    "sandbox": {"network": "shared"}
});

#[cfg(test)]
mod tests {
    use autonoe_core::gate::ProjectPaths;
    use autonoe_core::spec::{SpecPort, registered_specs};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_program_must_be_there() {
        let context = SpecContext::new(ProjectPaths::new("/srv/project"))
            .with_environment([("PATH".into(), "/nowhere".into())]);
        for spec in [json!({}), json!({"script": "/opt/gemini.js"})] {
            let spec: GeminiSpec = serde_json::from_value(spec).expect("a spec");

            let error = spec.options(&context).expect_err("there is none");

            assert!(error.to_string().contains("node"), "{error}");
        }
    }

    #[test]
    fn a_file_with_a_mistake_is_an_error() {
        for mistake in [json!({"modle": "x"}), json!({"home": "mine"})] {
            assert!(serde_json::from_value::<GeminiSpec>(mistake).is_err());
        }
    }

    #[test]
    fn the_registered_examples_are_specs() {
        let entries = registered_specs(SpecPort::Backend);
        for tag in ["acp", "gemini"] {
            let entry = entries.iter().find(|entry| entry.tag == tag);
            let example = (entry.expect("it is registered").example)();

            let spec: Box<dyn BackendSpec> = serde_json::from_value(example).expect("a spec");

            assert_eq!(spec.typetag_name(), tag);
        }
    }
}
