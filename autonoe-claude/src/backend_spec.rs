//! [`ClaudeSpec`], the description of Claude Code in a configuration file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_backend::{ProgramFields, SandboxConfig, check_limit, check_model, version_finding};
use autonoe_core::agent::{BackendProbe, Credentials, ProbeFinding, Sandbox, ThinkingBudget};
use autonoe_core::gate::PermissionRule;
use autonoe_core::spec::{BackendSpec, SpecContext, SpecError};
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentClientFactory, Capabilities, CostUsd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::backend::ClaudeBackend;
use crate::launch::{ClaudeOptions, ConfigFolder, SettingSources, claims};
use crate::probe::{Login, LoginCheck, SandboxProblem, probe, sandbox_problem};

/// Configures Claude Code: `{"type": "claude", ..}`.
///
/// All fields are optional. The program starts with the environment of the [`SpecContext`], which
/// includes its credentials, and nothing else.
///
/// ```
/// use autonoe_claude as _;
/// use autonoe_core::spec::BackendSpec;
///
/// let json = r#"{"type": "claude", "model": "sonnet", "maxTurns": 80}"#;
/// let backend: Box<dyn BackendSpec> = serde_json::from_str(json)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ClaudeSpec {
    /// The path of the program. The default is the `claude` on `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// The model of sessions that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The thinking budget in tokens of sessions that do not set one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingBudget>,
    /// The maximum number of turns of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// The maximum cost of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<CostUsd>,
    /// Whether the program runs its commands in its own sandbox in every session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_sandbox: Option<Sandbox>,
    /// The outer sandbox, for a run that has one.
    pub sandbox: SandboxConfig,
    /// The built-in tools that a session offers. The default is the base tools and every tool that
    /// a permission rule names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Calls that Claude Code itself refuses, before it calls the gate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<PermissionRule>,
    /// MCP servers that every session has, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// The settings files of the project that apply.
    pub setting_sources: SettingSources,
    /// The folder with the program's login and conversations.
    pub config: ConfigFolder,
    /// The directory for the temporary folders of sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporary: Option<PathBuf>,
    /// The maximum silence of the program during a turn, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u64>,
    /// The time that background commands may run after the last turn, in seconds; 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_grace_seconds: Option<u64>,
}

impl ClaudeSpec {
    const TAG: &str = "claude";

    /// Converts the spec to options, for a program that starts with the environment of `context`.
    ///
    /// # Errors
    ///
    /// No program is named and none is found, or a value is invalid.
    pub fn options(&self, context: &SpecContext) -> Result<ClaudeOptions, SpecError> {
        check_model(Self::TAG, self.model.as_deref())?;
        check_limit(Self::TAG, "maxTurns", self.max_turns)?;
        check_limit(Self::TAG, "maxCostUsd", self.max_cost_usd)?;
        check_limit(Self::TAG, "silenceSeconds", self.silence_seconds)?;
        let environment = context.environment.clone();
        let mut options = match &self.program {
            Some(program) => ClaudeOptions::new(program, environment),
            None => ClaudeOptions::found_on_path(environment)
                .map_err(|error| SpecError::new(Self::TAG, error.to_string()))?,
        };
        self.apply(&mut options);
        options.directory = Some(context.project_paths.project.clone());
        Ok(options)
    }

    /// Sets everything but the program, its environment and its directory.
    fn apply(&self, options: &mut ClaudeOptions) {
        let spec = self.clone();
        options.program.apply(ProgramFields {
            model: spec.model,
            sandbox: spec.sandbox,
            mcp_servers: spec.mcp_servers,
            temporary: spec.temporary,
            silence_seconds: spec.silence_seconds,
        });
        options.thinking = spec.thinking;
        options.max_turns = spec.max_turns;
        options.max_cost = spec.max_cost_usd;
        options.own_sandbox = spec.own_sandbox.unwrap_or(options.own_sandbox);
        options.tools = spec.tools;
        options.deny = spec.deny;
        options.setting_sources = spec.setting_sources;
        options.config = spec.config;
        // The environment of the context contains all credentials of the program.
        options.login_check = LoginCheck::AtProbe;
        let grace = spec.background_grace_seconds.map(Duration::from_secs);
        options.background_grace = grace.unwrap_or(options.background_grace);
    }
}

#[typetag::serde(name = "claude")]
#[async_trait]
impl BackendSpec for ClaudeSpec {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        Ok(Arc::new(ClaudeBackend::new(self.options(context)?)))
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        probe_backend(self, context).await
    }

    fn claims(&self) -> Option<Capabilities> {
        let mut options = ClaudeOptions::new(Self::TAG, []);
        self.apply(&mut options);
        Some(claims(&options))
    }
}

autonoe_core::register_spec!(Backend, ClaudeSpec, "claude", {
    "model": "sonnet",
    "maxTurns": 80,
    "maxCostUsd": "5",
    "deny": ["Read(~/.ssh/**)"],
    "config": "perSession"
});

/// Spec `{"type": "claude-code", ..}`, which is read as `{"type": "claude", ..}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct FormerClaudeSpec(ClaudeSpec);

#[typetag::serde(name = "claude-code")]
#[async_trait]
impl BackendSpec for FormerClaudeSpec {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        self.0.build(context)
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        self.0.probe(context).await
    }

    fn claims(&self) -> Option<Capabilities> {
        self.0.claims()
    }
}

const INSTALL: &str = "install it: npm install -g @anthropic-ai/claude-code";

const LOG_IN: &str = "log in once with `claude`, or set CLAUDE_CODE_OAUTH_TOKEN \
    (created by `claude setup-token`) or ANTHROPIC_API_KEY";

const OTHER_VERSION: &str = "if sessions fail, install a version that Autonoe was tested with; see \
     docs/guides/claude-code.md";

/// Variables from which Claude Code reads its credentials.
const CREDENTIALS: [&str; 3] = [
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
];

/// Variables that select the credentials of another service.
const OTHER_SERVICES: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// Probes the program, its credentials and the requirements of its sandbox.
pub(crate) async fn probe_backend(spec: &ClaudeSpec, context: &SpecContext) -> BackendProbe {
    const NAME: &str = "claude";
    let mut found = BackendProbe::new(NAME).with_default_model(spec.model.clone());
    let mut login = Login::Unknown;
    let sandbox_problem = sandbox_problem(&context.environment).await;
    match spec.options(context) {
        Err(_) => {
            let missing = "there is no program `claude` on PATH";
            found = found.finding(ProbeFinding::problem(NAME, missing, INSTALL));
        }
        Ok(options) => {
            found = found.with_program(&options.program.path);
            found = match probe(&options).await {
                Err(error) => {
                    let remedy = error.remedy().unwrap_or(INSTALL).to_owned();
                    found.finding(ProbeFinding::problem(NAME, error.to_string(), remedy))
                }
                Ok(mut probe) => {
                    login = probe.login;
                    if let Some(problem) = probe.directory_problem.take() {
                        let remedy = problem.remedy().unwrap_or_default().to_owned();
                        let reason = problem.to_string();
                        found =
                            found.finding(ProbeFinding::problem("project path", reason, remedy));
                    }
                    found
                        .finding(version_finding(
                            NAME,
                            &options.program.path,
                            &probe.version,
                            probe.is_tested,
                            OTHER_VERSION,
                        ))
                        .with_tested(probe.is_tested)
                        .with_version(probe.version)
                }
            };
        }
    }
    let (credentials, finding) = credentials(login, spec, context);
    found
        .with_credentials(credentials)
        .finding(finding)
        .finding(sandbox(sandbox_problem))
}

/// Checks for credentials if Claude Code did not report its login, and does not read them.
fn credentials(
    login: Login,
    spec: &ClaudeSpec,
    context: &SpecContext,
) -> (Credentials, ProbeFinding) {
    const NAME: &str = "credentials";
    let good = |found: String| (Credentials::Found, ProbeFinding::good(NAME, found));
    if login == Login::Missing {
        let found = "Claude Code reports that it is not logged in";
        let problem = ProbeFinding::problem(NAME, found, LOG_IN);
        return (Credentials::Missing, problem);
    }
    let is_set = |name: &&str| variable(context, name).is_some();
    if let Some(name) = CREDENTIALS.iter().find(|name| is_set(name)) {
        return good(format!("{name} is set"));
    }
    if let Some(name) = OTHER_SERVICES.iter().find(|name| is_set(name)) {
        return good(format!(
            "{name} is set, so Claude Code uses the credentials of another service"
        ));
    }
    let file = login_file(spec, context);
    if let Some(file) = file.filter(|file| file.is_file()) {
        return good(format!("there is a login in {}", file.display()));
    }
    if login == Login::Found {
        return good("Claude Code reports that it is logged in".to_owned());
    }
    let found = "no login and no key was found";
    if cfg!(target_os = "macos") {
        // The login may be in the keychain, which Autonoe does not open.
        let finding = ProbeFinding::warning(NAME, found, LOG_IN);
        (Credentials::Unknown, finding)
    } else {
        let finding = ProbeFinding::problem(NAME, found, LOG_IN);
        (Credentials::Missing, finding)
    }
}

fn login_file(spec: &ClaudeSpec, context: &SpecContext) -> Option<PathBuf> {
    let folder = match &spec.config {
        ConfigFolder::PerSession => return None,
        ConfigFolder::Persistent(folder) => folder.clone(),
        ConfigFolder::User => match variable(context, "CLAUDE_CONFIG_DIR") {
            Some(folder) => context.project_paths.project.join(folder),
            None => PathBuf::from(variable(context, "HOME")?).join(".claude"),
        },
    };
    Some(folder.join(".credentials.json"))
}

/// Returns an environment variable, if it is not empty.
fn variable<'a>(context: &'a SpecContext, name: &str) -> Option<&'a OsStr> {
    let value = context.environment.get(OsStr::new(name))?;
    (!value.is_empty()).then_some(value)
}

/// Returns the finding about the sandbox of the program.
fn sandbox(problem: Option<SandboxProblem>) -> ProbeFinding {
    const NAME: &str = "sandbox";
    match problem {
        Some(problem) => ProbeFinding::problem(NAME, problem.reason, problem.remedy),
        None if cfg!(target_os = "macos") => {
            ProbeFinding::good(NAME, "macOS has a built-in sandbox")
        }
        None => ProbeFinding::good(NAME, "bwrap and socat are installed, and bwrap works"),
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::gate::ProjectPaths;
    use autonoe_core::spec::{SpecPort, registered_specs};
    use serde_json::json;

    use super::*;

    fn context(path: &str) -> SpecContext {
        SpecContext::new(ProjectPaths::new("/srv/project"))
            .with_environment([("PATH".into(), path.into())])
    }

    #[test]
    fn everything_can_be_left_out_but_the_program_must_be_there() {
        let spec: ClaudeSpec = serde_json::from_value(json!({})).expect("all is optional");

        let error = spec
            .options(&context("/nowhere"))
            .expect_err("there is none");
        assert!(error.to_string().contains("PATH"), "{error}");

        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("claude");
        std::fs::write(&program, "#!/bin/sh\n").expect("writable");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("ours");
        let path = folder.path().display().to_string();
        let options = spec.options(&context(&path)).expect("it is there");
        assert_eq!(options.program.path, program);
    }

    #[test]
    fn spec_fields_set_the_options() {
        let spec = json!({
            "program": "/opt/claude", "model": "opus", "thinking": 2048, "maxTurns": 7,
            "maxCostUsd": "1.5", "ownSandbox": "required", "tools": ["Read"],
            "deny": ["Write(/etc/**)"], "mcpServers": {"search": {"command": "search"}},
            "settingSources": "project", "config": {"persistent": "/var/claude"},
            "sandbox": {"bubblewrap": "/opt/bwrap", "network": "off", "hidden": ["/home"]},
            "temporary": "/var/tmp", "silenceSeconds": 60, "backgroundGraceSeconds": 5,
        });
        let spec: ClaudeSpec = serde_json::from_value(spec).expect("a spec");

        let options = spec.options(&context("/bin")).expect("it is named");

        insta::assert_debug_snapshot!(options);
        assert_eq!(options.thinking.map(ThinkingBudget::tokens), Some(2048));
        assert_eq!(options.program.temporary, PathBuf::from("/var/tmp"));
        assert_eq!(options.program.silence_limit, Duration::from_secs(60));
        assert_eq!(options.background_grace, Duration::from_secs(5));
    }

    #[test]
    fn a_file_with_a_mistake_is_an_error() {
        for mistake in [
            json!({"modle": "opus"}),
            json!({"thinking": 5}),
            json!({"deny": ["Fly(./**)"]}),
            json!({"ownSandbox": "maybe"}),
            json!({"sandbox": "required"}),
        ] {
            assert!(serde_json::from_value::<ClaudeSpec>(mistake).is_err());
        }
    }

    #[test]
    fn the_registered_example_is_a_spec() {
        let entries = registered_specs(SpecPort::Backend);
        let entry = entries.iter().find(|entry| entry.tag == "claude");
        let example = (entry.expect("it is registered").example)();

        let spec: Box<dyn BackendSpec> = serde_json::from_value(example).expect("a spec");

        assert_eq!(spec.typetag_name(), "claude");
    }

    #[test]
    fn the_former_name_is_understood_and_its_mistakes_are_too() {
        for (text, is_fine) in [
            (r#"{"type": "claude-code", "model": "opus"}"#, true),
            (r#"{"type": "claude-code"}"#, true),
            (r#"{"type": "claude-code", "modle": "opus"}"#, false),
        ] {
            let read = serde_json::from_str::<Box<dyn BackendSpec>>(text);
            assert_eq!(read.is_ok(), is_fine, "{text}: {read:?}");
        }
    }
}
