//! [`CodexSpec`], the description of Codex in a configuration file, and the reasoning [`Effort`] of a model.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_backend::{ProgramFields, SandboxConfig, check_limit, check_model, version_finding};
use autonoe_core::agent::{BackendProbe, Credentials, OuterSandbox, ProbeFinding, ThinkingBudget};
use autonoe_core::spec::{BackendSpec, SpecContext, SpecError};
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentClientFactory, Capabilities};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::backend::CodexBackend;
use crate::launch::{CodexHome, CodexOptions, CodexProvider, claims};
use crate::probe::version;

/// Configures Codex: `{"type": "codex", ..}`.
///
/// All fields are optional. The program starts with the environment of the [`SpecContext`], which
/// includes its key, and nothing else.
///
/// ```
/// use autonoe_codex as _;
/// use autonoe_core::spec::BackendSpec;
///
/// let json = r#"{"type": "codex", "model": "gpt-5.5", "sandbox": {"hidden": ["/home/ada/.ssh"]}}"#;
/// let backend: Box<dyn BackendSpec> = serde_json::from_str(json)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct CodexSpec {
    /// The path of the program. The default is the `codex` on `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// The model of sessions that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The reasoning effort of sessions that do not set it: `minimal`, `low`, `medium`, `high` or
    /// `xhigh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The provider of the model. The default is the service of the login. Without a kept login, it
    /// is OpenAI if `OPENAI_API_KEY` is set, at the address in `OPENAI_BASE_URL` if that is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<CodexProvider>,
    /// The source of the program's login and conversations.
    pub home: CodexHome,
    /// The outer sandbox, for a run that has one.
    pub sandbox: SandboxConfig,
    /// MCP servers that every session has, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The directory for the temporary folders of sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporary: Option<PathBuf>,
    /// The maximum silence of the program during a turn, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u64>,
}

impl CodexSpec {
    const TAG: &str = "codex";

    /// Converts the spec to options, for a program that starts with the environment of `context`.
    ///
    /// # Errors
    ///
    /// No program is named and none is found, or a value is invalid.
    pub fn options(&self, context: &SpecContext) -> Result<CodexOptions, SpecError> {
        check_model(Self::TAG, self.model.as_deref())?;
        check_limit(Self::TAG, "silenceSeconds", self.silence_seconds)?;
        let environment = context.environment.clone();
        let mut options = match &self.program {
            Some(program) => CodexOptions::new(program, environment),
            None => CodexOptions::found_on_path(environment)
                .map_err(|error| SpecError::new(Self::TAG, error.to_string()))?,
        };
        self.apply(&mut options);
        Ok(options)
    }

    /// Sets everything but the program and its environment.
    fn apply(&self, options: &mut CodexOptions) {
        let spec = self.clone();
        options.program.apply(ProgramFields {
            model: spec.model,
            sandbox: spec.sandbox,
            mcp_servers: spec.mcp_servers,
            temporary: spec.temporary,
            silence_seconds: spec.silence_seconds,
        });
        options.effort = spec.effort;
        options.home = spec.home;
        options.provider = spec
            .provider
            .or_else(|| service_of_key(&options.home, &options.program.environment));
    }
}

#[typetag::serde(name = "codex")]
#[async_trait]
impl BackendSpec for CodexSpec {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        Ok(Arc::new(CodexBackend::new(self.options(context)?)))
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        probe_backend(self, context).await
    }

    fn claims(&self) -> Option<Capabilities> {
        let mut options = CodexOptions::new(Self::TAG, []);
        self.apply(&mut options);
        Some(claims(&options))
    }

    fn outer_sandbox(&self) -> Option<OuterSandbox> {
        Some(OuterSandbox::bubblewrap())
    }
}

autonoe_core::register_spec!(Backend, CodexSpec, "codex", {
    "model": "gpt-5.5",
    "provider": {"baseUrl": "https://api.openai.com/v1", "keyVariable": "OPENAI_API_KEY"},
    "sandbox": {"network": "shared"}
});

/// The version that the protocol was tested with.
const TESTED: &str = "0.166.0";

const INSTALL: &str = "install it (npm install -g @openai/codex), or set `program` of the backend \
    to its path";

const LOG_IN: &str = "set OPENAI_API_KEY; or log in with `CODEX_HOME=<folder> codex login` and \
    set `home` of the backend to {\"persistent\": \"<folder>\"}";

/// The variables with the key for OpenAI and with the address of another service.
const KEY: &str = "OPENAI_API_KEY";

const ADDRESS: &str = "OPENAI_BASE_URL";

const OPENAI: &str = "https://api.openai.com/v1";

/// Returns the service of a session without a provider and a kept login: that of the key in the
/// environment.
pub(crate) fn service_of_key(
    home: &CodexHome,
    environment: &BTreeMap<OsString, OsString>,
) -> Option<CodexProvider> {
    let value = |name: &str| {
        let value = environment.get(OsStr::new(name))?.to_str()?;
        (!value.is_empty()).then_some(value)
    };
    let has_none = *home == CodexHome::PerSession && value(KEY).is_some();
    has_none.then(|| CodexProvider::new(value(ADDRESS).unwrap_or(OPENAI), KEY))
}

/// Probes the program, its credentials and the requirements of the sandbox around it.
pub(crate) async fn probe_backend(spec: &CodexSpec, context: &SpecContext) -> BackendProbe {
    const NAME: &str = "codex";
    let mut found = BackendProbe::new(NAME).with_default_model(spec.model.clone());
    let Ok(options) = spec.options(context) else {
        let missing = "there is no program `codex` on PATH";
        return found.finding(ProbeFinding::problem(NAME, missing, INSTALL));
    };
    found = found.with_program(&options.program.path);
    found = match version(&options).await {
        Err(error) => found.finding(ProbeFinding::problem(NAME, error.to_string(), INSTALL)),
        Ok(version) => {
            let is_tested = version == TESTED;
            let remedy = format!("if sessions fail, install {TESTED}");
            let finding = version_finding(NAME, &options.program.path, &version, is_tested, remedy);
            found
                .with_version(version)
                .with_tested(is_tested)
                .finding(finding)
        }
    };
    let (credentials, finding) = credentials(&options);
    found
        .with_credentials(credentials)
        .finding(finding)
        .finding(options.program.sandbox.probe())
}

/// Checks for a key or a login, and does not read it.
fn credentials(options: &CodexOptions) -> (Credentials, ProbeFinding) {
    const NAME: &str = "credentials";
    let missing = |found: String| {
        let problem = ProbeFinding::problem(NAME, found, LOG_IN);
        (Credentials::Missing, problem)
    };
    let good = |found: String| (Credentials::Found, ProbeFinding::good(NAME, found));
    match (&options.provider, &options.home) {
        (Some(provider), _) => {
            let name = &provider.key_variable;
            let value = options.program.environment.get(OsStr::new(name));
            if value.is_some_and(|value| !value.is_empty()) {
                good(format!("{name} is set, for {}", provider.base_url))
            } else {
                missing(format!("{name} is not set"))
            }
        }
        (None, CodexHome::Persistent(folder)) => {
            if folder.join("auth.json").is_file() {
                good(format!("there is a login in {}", folder.display()))
            } else {
                missing(format!("there is no login in {}", folder.display()))
            }
        }
        (None, CodexHome::PerSession) => missing("no key and no login was found".to_owned()),
    }
}

/// The reasoning effort of a model.
///
/// ```
/// use autonoe_codex::Effort;
/// use autonoe_core::agent::ThinkingBudget;
///
/// // The program does not accept a number of tokens.
/// assert_eq!(Effort::from(ThinkingBudget::default()), Effort::Medium);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Effort {
    /// Minimal effort, if the model supports it.
    Minimal,
    /// Low effort.
    Low,
    /// The usual effort.
    Medium,
    /// High effort.
    High,
    /// Maximum effort, if the model supports it.
    XHigh,
}

impl Effort {
    /// Returns its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }
}

impl From<ThinkingBudget> for Effort {
    fn from(budget: ThinkingBudget) -> Self {
        match budget.tokens() {
            ..4096 => Self::Low,
            4096..16_384 => Self::Medium,
            _ => Self::High,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use autonoe_backend::SandboxNetwork;
    use autonoe_core::gate::ProjectPaths;
    use autonoe_core::spec::{SpecPort, registered_specs};
    use serde_json::json;

    use super::*;

    fn context() -> SpecContext {
        SpecContext::new(ProjectPaths::new("/srv/project"))
            .with_environment([("PATH".into(), "/nowhere".into())])
    }

    #[test]
    fn everything_can_be_left_out_but_the_program_must_be_there() {
        let spec: CodexSpec = serde_json::from_value(json!({})).expect("all is optional");

        let error = spec.options(&context()).expect_err("there is none");

        assert!(error.to_string().contains("PATH"), "{error}");
    }

    #[test]
    fn spec_fields_set_the_options() {
        let spec = json!({
            "program": "/opt/codex", "model": "gpt-5.5", "effort": "xhigh",
            "home": {"persistent": "/var/codex"},
            "provider": {"baseUrl": "http://x/v1", "keyVariable": "K", "maxRetries": 1},
            "sandbox": {"bubblewrap": "/opt/bwrap", "network": "off", "hidden": ["/home"]},
            "mcpServers": {"search": {"command": "search"}},
            "temporary": "/var/tmp", "silenceSeconds": 60,
        });
        let spec: CodexSpec = serde_json::from_value(spec).expect("a spec");

        let options = spec.options(&context()).expect("it is named");

        assert_eq!(options.program.path, PathBuf::from("/opt/codex"));
        assert_eq!(options.program.model.as_deref(), Some("gpt-5.5"));
        assert_eq!(options.effort, Some(Effort::XHigh));
        assert_eq!(options.home, CodexHome::Persistent("/var/codex".into()));
        let mut provider = CodexProvider::new("http://x/v1", "K");
        provider.max_retries = Some(1);
        assert_eq!(options.provider, Some(provider));
        let mut sandbox_config = SandboxConfig::new(Some("/opt/bwrap".into()));
        sandbox_config.network = SandboxNetwork::Off;
        sandbox_config.hidden.push("/home".into());
        assert_eq!(options.program.sandbox, sandbox_config);
        assert_eq!(options.program.mcp_servers.len(), 1);
        assert_eq!(options.program.temporary, PathBuf::from("/var/tmp"));
        assert_eq!(options.program.silence_limit, Duration::from_secs(60));
    }

    #[test]
    fn a_file_with_a_mistake_is_an_error() {
        for mistake in [
            json!({"modle": "gpt-5.5"}),
            json!({"effort": "enormous"}),
            json!({"provider": {"baseUrl": "http://x/v1"}}),
            json!({"home": "mine"}),
            json!({"sandbox": {"network": "maybe"}}),
        ] {
            assert!(serde_json::from_value::<CodexSpec>(mistake).is_err());
        }
    }

    #[test]
    fn the_registered_example_is_a_spec() {
        let entries = registered_specs(SpecPort::Backend);
        let entry = entries.iter().find(|entry| entry.tag == "codex");
        let example = (entry.expect("it is registered").example)();

        let spec: Box<dyn BackendSpec> = serde_json::from_value(example).expect("a spec");

        assert_eq!(spec.typetag_name(), "codex");
    }

    #[test]
    fn a_key_in_the_environment_selects_the_service() {
        let persistent = CodexHome::Persistent("/var/codex".into());
        for (home, variables, expected) in [
            (CodexHome::PerSession, &[][..], None),
            (CodexHome::PerSession, &[(KEY, "")], None),
            (CodexHome::PerSession, &[(KEY, "sk-1")], Some(OPENAI)),
            (
                CodexHome::PerSession,
                &[(KEY, "sk-1"), (ADDRESS, "http://127.0.0.1:1/v1")],
                Some("http://127.0.0.1:1/v1"),
            ),
            (persistent, &[(KEY, "sk-1")], None),
        ] {
            let environment = variables
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));

            let provider = service_of_key(&home, &environment.collect());

            let address = provider.as_ref().map(|it| it.base_url.as_str());
            assert_eq!(address, expected, "{home:?} {variables:?}");
        }
    }
}
