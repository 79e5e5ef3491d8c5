//! Claude Code from a configuration file.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_backend::{SandboxSpec, check_limit, check_model};
use autonoe_core::{
    AgentClientFactory, BackendProbe, BackendSpec, Capabilities, CostUsd, Credentials, McpServer,
    PermissionRule, ProbeFinding, Sandbox, SpecContext, SpecError, ThinkingBudget,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agents::ClaudeAgents;
use crate::launch::{ClaudeOptions, ConfigFolder, SettingSources, claims};
use crate::probe::{Login, LoginCheck, Probe, SandboxProblem, probe, sandbox_problem};

/// Describes Claude Code in a configuration file: `{"type": "claude", ..}`.
///
/// Everything can be left out. What the program starts with, its credentials among it, is
/// the environment of the [`SpecContext`], and nothing else.
///
/// ```
/// use autonoe_claude as _;
/// use autonoe_core::BackendSpec;
///
/// let json = r#"{"type": "claude", "model": "sonnet", "maxTurns": 80}"#;
/// let backend: Box<dyn BackendSpec> = serde_json::from_str(json)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ClaudeBackend {
    /// The program; without it, `claude` is looked for by `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// The model of sessions that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many tokens agents may think in sessions that do not say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingBudget>,
    /// How many turns a session may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// What a session may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<CostUsd>,
    /// Whether the program keeps its commands in its own sandbox in every session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_sandbox: Option<Sandbox>,
    /// How the outer sandbox is made, for a run that has one.
    pub sandbox: SandboxSpec,
    /// The built-in tools that a session offers; without it, the base tools and every tool that
    /// a permission rule names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Calls that Claude Code itself refuses, before it calls the gate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<PermissionRule>,
    /// MCP servers that every session has, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp_servers: BTreeMap<String, McpServer>,
    /// Which settings files of the project count.
    pub setting_sources: SettingSources,
    /// Where the program keeps its login and conversations.
    pub config: ConfigFolder,
    /// Where the temporary folders of sessions are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporary: Option<PathBuf>,
    /// How many seconds the program may say nothing while it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_seconds: Option<u64>,
    /// How many seconds commands in the background may run after the last turn; 10 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_grace_seconds: Option<u64>,
}

impl ClaudeBackend {
    const TAG: &str = "claude";

    /// Says the same as options, for a program that starts with the environment of `context`.
    ///
    /// # Errors
    ///
    /// No program is named, and none is found. Or a value makes no sense.
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
        options.model = spec.model;
        options.thinking = spec.thinking;
        options.max_turns = spec.max_turns;
        options.max_cost = spec.max_cost_usd;
        options.own_sandbox = spec.own_sandbox.unwrap_or(options.own_sandbox);
        spec.sandbox.apply(&mut options.walls);
        options.tools = spec.tools;
        options.deny = spec.deny;
        options.mcp_servers = spec.mcp_servers;
        options.setting_sources = spec.setting_sources;
        options.config = spec.config;
        // What the program starts with is all in the environment of the context.
        options.login_check = LoginCheck::AtProbe;
        if let Some(temporary) = spec.temporary {
            options.temporary = temporary;
        }
        let silence = spec.silence_seconds.map(Duration::from_secs);
        options.silence_limit = silence.unwrap_or(options.silence_limit);
        let grace = spec.background_grace_seconds.map(Duration::from_secs);
        options.background_grace = grace.unwrap_or(options.background_grace);
    }
}

#[typetag::serde(name = "claude")]
#[async_trait]
impl BackendSpec for ClaudeBackend {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        Ok(Arc::new(ClaudeAgents::new(self.options(context)?)))
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

autonoe_core::register_spec!(Backend, ClaudeBackend, "claude", {
    "model": "sonnet",
    "maxTurns": 80,
    "maxCostUsd": "5",
    "deny": ["Read(~/.ssh/**)"],
    "config": "perSession"
});

const INSTALL: &str = "install it: npm install -g @anthropic-ai/claude-code";

const LOG_IN: &str = "log in once with `claude`, or set CLAUDE_CODE_OAUTH_TOKEN \
    (made by `claude setup-token`) or ANTHROPIC_API_KEY";

/// Variables that Claude Code takes its credentials from.
const CREDENTIALS: [&str; 3] = [
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
];

/// Variables that let it use the credentials of another service.
const OTHER_SERVICES: [&str; 3] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// Probes the program, its credentials and the requirements of its sandbox.
pub(crate) async fn probe_backend(spec: &ClaudeBackend, context: &SpecContext) -> BackendProbe {
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
            let path = options.program.display().to_string();
            found = found.with_program(&options.program);
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
                        .finding(version(NAME, &path, &probe))
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

fn version(name: &str, path: &str, probe: &Probe) -> ProbeFinding {
    let found = format!("{path}, version {}", probe.version);
    match probe.is_tested {
        true => ProbeFinding::good(name, found),
        false => ProbeFinding::warning(
            name,
            format!("{found}, which Autonoe was not tried with"),
            "if sessions fail, install a version that it was tried with; see docs/guides/claude-code.md",
        ),
    }
}

/// Checks for credentials if Claude Code did not report its login, and does not read them.
fn credentials(
    login: Login,
    spec: &ClaudeBackend,
    context: &SpecContext,
) -> (Credentials, ProbeFinding) {
    const NAME: &str = "credentials";
    let good = |found: String| (Credentials::Found, ProbeFinding::good(NAME, found));
    if login == Login::Missing {
        let found = "Claude Code says that it is not logged in";
        let problem = ProbeFinding::problem(NAME, found, LOG_IN);
        return (Credentials::Missing, problem);
    }
    let is_set = |name: &&str| variable(context, name).is_some();
    if let Some(name) = CREDENTIALS.iter().find(|name| is_set(name)) {
        return good(format!("{name} is set"));
    }
    if let Some(name) = OTHER_SERVICES.iter().find(|name| is_set(name)) {
        return good(format!("{name} is set: those of another service count"));
    }
    let file = login_file(spec, context);
    if let Some(file) = file.filter(|file| file.is_file()) {
        return good(format!("there is a login in {}", file.display()));
    }
    if login == Login::Found {
        return good("Claude Code says that it is logged in".to_owned());
    }
    let found = "no login and no key was found";
    match cfg!(target_os = "macos") {
        // The login may be in the keychain, which Autonoe does not open.
        true => (
            Credentials::Unknown,
            ProbeFinding::warning(NAME, found, LOG_IN),
        ),
        false => (
            Credentials::Missing,
            ProbeFinding::problem(NAME, found, LOG_IN),
        ),
    }
}

fn login_file(spec: &ClaudeBackend, context: &SpecContext) -> Option<PathBuf> {
    let folder = match &spec.config {
        ConfigFolder::PerSession => return None,
        ConfigFolder::Kept(folder) => folder.clone(),
        ConfigFolder::OfTheUser => match variable(context, "CLAUDE_CONFIG_DIR") {
            Some(folder) => context.project_paths.project.join(folder),
            None => PathBuf::from(variable(context, "HOME")?).join(".claude"),
        },
    };
    Some(folder.join(".credentials.json"))
}

/// Returns a variable of the environment that is not empty.
fn variable<'a>(context: &'a SpecContext, name: &str) -> Option<&'a OsStr> {
    let value = context.environment.get(OsStr::new(name))?;
    (!value.is_empty()).then_some(value)
}

/// Returns the finding about the sandbox of the program.
fn sandbox(problem: Option<SandboxProblem>) -> ProbeFinding {
    const NAME: &str = "sandbox";
    match problem {
        Some(problem) => ProbeFinding::problem(NAME, problem.reason, problem.remedy),
        None if cfg!(target_os = "macos") => ProbeFinding::good(NAME, "macOS brings what it needs"),
        None => ProbeFinding::good(NAME, "bwrap and socat are there, and bwrap works"),
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{ProjectPaths, SpecPort, registered_specs};
    use serde_json::json;

    use super::*;

    fn context(path: &str) -> SpecContext {
        SpecContext::new(ProjectPaths::new("/srv/project"))
            .with_environment([("PATH".into(), path.into())])
    }

    #[test]
    fn everything_can_be_left_out_but_the_program_must_be_there() {
        let spec: ClaudeBackend = serde_json::from_value(json!({})).expect("all is optional");

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
        assert_eq!(options.program, program);
    }

    #[test]
    fn what_a_file_says_is_in_the_options() {
        let spec = json!({
            "program": "/opt/claude", "model": "opus", "thinking": 2048, "maxTurns": 7,
            "maxCostUsd": "1.5", "ownSandbox": "required", "tools": ["Read"],
            "deny": ["Write(/etc/**)"], "mcpServers": {"search": {"command": "search"}},
            "settingSources": "project", "config": {"kept": "/var/claude"},
            "sandbox": {"bubblewrap": "/opt/bwrap", "network": "off", "hidden": ["/home"]},
            "temporary": "/var/tmp", "silenceSeconds": 60, "backgroundGraceSeconds": 5,
        });
        let spec: ClaudeBackend = serde_json::from_value(spec).expect("a spec");

        let options = spec.options(&context("/bin")).expect("it is named");

        insta::assert_debug_snapshot!(options);
        assert_eq!(options.thinking.map(ThinkingBudget::tokens), Some(2048));
        assert_eq!(options.temporary, PathBuf::from("/var/tmp"));
        assert_eq!(options.silence_limit, Duration::from_secs(60));
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
            assert!(serde_json::from_value::<ClaudeBackend>(mistake).is_err());
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
}
