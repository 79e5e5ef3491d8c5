//! A project, a scripted model, and a session of the real program between them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use autonoe_claude::{ClaudeAgents, ClaudeOptions, ConfigFolder};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Gate, Grants, PermissionRule, Places, RunId,
    Sandbox, SessionKey, SessionSpec, StreamEvent, Tool, Toolbox,
};
use autonoe_testkit::model_server::anthropic::{AnthropicServer, Script};
use futures::StreamExt;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::build::Build;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A variable that everything inherits which a test starts.
const MARKER: &str = "AUTONOE_TEST_SETTING";

/// A project, and a model that follows a script.
pub(crate) struct Setting {
    folders: TempDir,
    pub(crate) server: AnthropicServer,
    pub(crate) build: Build,
    login: Login,
}

/// How the program proves itself. Nobody checks it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Login {
    ApiKey,
    Subscription,
}

impl Setting {
    pub(crate) fn new(build: Build, script: impl Into<Script>) -> Self {
        Self::with_login(build, script, Login::ApiKey)
    }

    /// Makes a setting whose model may be asked less than its script has.
    pub(crate) fn unverified(mut self) -> Self {
        self.server = self.server.unverified();
        self
    }

    pub(crate) fn with_login(build: Build, script: impl Into<Script>, login: Login) -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        for name in ["home", "tmp", "project"] {
            fs::create_dir(folders.path().join(name)).expect("it can be made");
        }
        Self {
            folders,
            server: AnthropicServer::start(script),
            build,
            login,
        }
    }

    pub(crate) fn project(&self) -> PathBuf {
        let project = self.folders.path().join("project");
        project.canonicalize().expect("it is there")
    }

    pub(crate) fn options(&self) -> ClaudeOptions {
        let mut environment: BTreeMap<OsString, OsString> = BTreeMap::new();
        let path = std::env::var_os("PATH").unwrap_or_default();
        environment.insert("PATH".into(), path);
        environment.insert(MARKER.into(), self.folders.path().into());
        environment.insert("HOME".into(), self.folders.path().join("home").into());
        let credential = match self.login {
            Login::ApiKey => "ANTHROPIC_API_KEY",
            Login::Subscription => "CLAUDE_CODE_OAUTH_TOKEN",
        };
        environment.insert(credential.into(), "dummy".into());
        environment.insert("ANTHROPIC_BASE_URL".into(), self.server.url().into());
        let mut options = ClaudeOptions::new(self.build.program(), environment);
        options.config = ConfigFolder::PerSession;
        options.temporary = self.folders.path().join("tmp");
        options
    }

    /// Returns what still runs of all that was started here, by the environment that it inherited.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let wanted = format!("{MARKER}={}", self.folders.path().display());
        let processes = fs::read_dir("/proc").expect("Linux").flatten();
        let ours = processes.filter(|process| {
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == wanted.as_bytes())
        });
        let command = |process: fs::DirEntry| fs::read(process.path().join("cmdline")).ok();
        ours.filter_map(command)
            .filter(|line| !line.is_empty())
            .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
            .collect()
    }

    pub(crate) fn agents(&self) -> ClaudeAgents {
        ClaudeAgents::new(self.options())
    }

    /// A spec without a sandbox, in which every built-in tool is granted.
    pub(crate) fn spec(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let tools = Toolbox::new(tools);
        let rules = ["Bash", "Read", "Write", "Edit"].map(|rule| rule.parse::<PermissionRule>());
        let grants = Grants::none().with_rules(rules.into_iter().flatten());
        let gate = Gate::new(Places::new(self.project()), tools.granted_in(grants));
        let mut spec = SessionSpec::new(key, self.project(), gate, tools);
        spec.sandbox = Sandbox::Off;
        spec
    }

    pub(crate) fn client(&self, spec: SessionSpec) -> Box<dyn AgentClient> {
        self.agents().create(spec).expect("it can be made")
    }
}

/// Asks one thing and returns all that comes of it.
pub(crate) async fn events_of(
    client: &mut dyn AgentClient,
    prompt: &str,
) -> (Vec<StreamEvent>, Option<AgentError>) {
    let (mut events, mut error) = (Vec::new(), None);
    let mut stream = client.query(prompt.into());
    while let Some(item) = timeout(PATIENCE, stream.next()).await.expect("it goes on") {
        match item {
            Ok(event) => events.push(event),
            Err(failed) => error = Some(failed),
        }
    }
    (events, error)
}
