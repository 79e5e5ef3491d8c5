//! Test fixture: a project with a session of the program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder};
use autonoe_core::agent::{Sandbox, SessionOutcome};
use autonoe_core::gate::{Gate, Grants, PermissionRule, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{ToolDefinition, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, RunId, SessionSpec, StreamEvent, Tool,
    ToolContext, ToolError, ToolOutput,
};
use autonoe_process::{Marker, ProcessInfo};
use autonoe_testkit::fake_claude::{Build, FakeScript, LOG, SCRIPT};
use autonoe_testkit::program::sessions_in;
use futures::StreamExt;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;

/// Maximum duration of any step on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

/// Environment variable that every process started by a test inherits.
const MARKER: &str = "AUTONOE_TEST_SETTING";

/// Returns the script that replays a recorded session of this build.
pub(crate) fn recorded(build: Build, session: &str) -> FakeScript {
    FakeScript::replay(transcript(build, session)).build(build)
}

/// Returns the file of a recorded session of this build.
pub(crate) fn transcript(build: Build, session: &str) -> PathBuf {
    transcripts().join(format!("{}/{session}.jsonl", build.version()))
}

/// Returns the directory of the recorded sessions.
pub(crate) fn transcripts() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    workspace
        .expect("a member of the workspace")
        .join("autonoe-claude/tests/transcripts")
}

/// The tool of the recorded host. It records which answers of the model called it.
pub(crate) struct SetStatus {
    definition: ToolDefinition,
    message_ids: Arc<Mutex<Vec<Option<String>>>>,
}

impl SetStatus {
    pub(crate) fn tool() -> Arc<dyn Tool> {
        Self::recording(Arc::default())
    }

    pub(crate) fn recording(message_ids: Arc<Mutex<Vec<Option<String>>>>) -> Arc<dyn Tool> {
        let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}});
        Arc::new(Self {
            definition: ToolDefinition::new("set_status", "Sets a status.", schema),
            message_ids,
        })
    }
}

#[async_trait]
impl Tool for SetStatus {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut message_ids = self.message_ids.lock().expect("not poisoned");
        message_ids.push(context.message_id.clone());
        Ok(ToolOutput::new(format!("set {}", input["id"])))
    }
}

/// A project, and a program that plays a script in it.
pub(crate) struct Fixture {
    folders: TempDir,
}

impl Fixture {
    pub(crate) fn new(script: &FakeScript) -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        for name in ["home", "tmp", "project"] {
            fs::create_dir(folders.path().join(name)).expect("it can be made");
        }
        let fixture = Self { folders };
        fixture.set_script(script);
        fixture
    }

    /// Sets the script of later sessions.
    pub(crate) fn set_script(&self, script: &FakeScript) {
        script
            .save(self.folders.path().join("script.json"))
            .expect("it can be written");
    }

    pub(crate) fn project(&self) -> PathBuf {
        let project = self.folders.path().join("project");
        project.canonicalize().expect("it is there")
    }

    pub(crate) fn options(&self) -> ClaudeOptions {
        let at = |name: &str| OsString::from(self.folders.path().join(name));
        let environment: BTreeMap<OsString, OsString> = [
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("HOME".into(), at("home")),
            (MARKER.into(), self.folders.path().into()),
            (SCRIPT.into(), at("script.json")),
            (LOG.into(), at("log.jsonl")),
        ]
        .into();
        let mut options = ClaudeOptions::new(env!("CARGO_BIN_EXE_fake-claude"), environment);
        options.config = ConfigFolder::PerSession;
        options.program.temporary = self.folders.path().join("tmp");
        options
    }

    /// Returns a spec without a sandbox that grants every built-in tool.
    pub(crate) fn spec(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let tools = Toolbox::new(tools);
        let rules = ["Bash", "Read", "Write", "Edit"].map(|rule| rule.parse::<PermissionRule>());
        let grants = Grants::none().with_rules(rules.into_iter().flatten());
        let gate = Gate::new(
            ProjectPaths::new(self.project()),
            grants.with_toolbox(&tools),
        );
        let mut spec = SessionSpec::new(key, self.project(), gate, tools);
        spec.sandbox = Sandbox::Off;
        spec
    }

    pub(crate) fn client(&self) -> Box<dyn AgentClient> {
        self.client_with(self.options(), self.spec([]))
    }

    pub(crate) fn client_with(
        &self,
        options: ClaudeOptions,
        spec: SessionSpec,
    ) -> Box<dyn AgentClient> {
        ClaudeBackend::new(options)
            .create(spec)
            .expect("it can be made")
    }

    /// Plays one query of a session and disposes the session.
    pub(crate) async fn played(&self) -> Played {
        self.played_with(self.options(), self.spec([])).await
    }

    /// Like [`played`](Self::played), with custom limits and tools.
    pub(crate) async fn played_with(&self, options: ClaudeOptions, spec: SessionSpec) -> Played {
        self.play(self.client_with(options, spec)).await
    }

    async fn play(&self, mut client: Box<dyn AgentClient>) -> Played {
        let played = query(client.as_mut()).await;
        timeout(TIMEOUT, client.dispose())
            .await
            .expect("it goes on")
            .expect("it ends");
        self.assert_nothing_left();
        played
    }

    /// Returns the messages between the program and its host.
    pub(crate) fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folders.path().join("log.jsonl")).unwrap_or_default();
        let lines = text.lines().map(serde_json::from_str);
        // The last line may be incomplete.
        lines.map_while(Result::ok).collect()
    }

    /// Waits until the program has noted `note` `times` times.
    pub(crate) async fn wait_for_note(&self, note: &str, times: usize) {
        let has_noted = || {
            let log = self.log();
            log.iter().filter(|entry| entry["line"] == note).count() >= times
        };
        eventually(&format!("the note {note:?}"), has_noted).await;
    }

    /// Returns the running processes that were started here, found by their inherited environment.
    fn leftovers(&self) -> Vec<ProcessInfo> {
        let folder = self.folders.path().display().to_string();
        let marker = Marker::new(MARKER, folder).expect("a marker");
        marker.processes()
    }

    /// Asserts that no process of the session runs and that its folder is removed.
    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(self.leftovers(), []);
        let left = sessions_in(&self.folders.path().join("tmp"));
        assert_eq!(left, Vec::<String>::new());
    }

    /// Waits until nothing is left of a session that is not disposed.
    pub(crate) async fn wait_until_nothing_left(&self) {
        eventually("nothing left", || self.leftovers().is_empty()).await;
    }
}

/// Waits until `is_so` returns true.
pub(crate) async fn eventually(expected: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "there is no {expected}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The result of a query.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) error: Option<AgentError>,
}

/// Sends one prompt and returns the result.
pub(crate) async fn query(client: &mut dyn AgentClient) -> Played {
    let (mut events, mut error) = (Vec::new(), None);
    let mut stream = client.query("Do what you are scripted to do.".into());
    while let Some(item) = timeout(TIMEOUT, stream.next()).await.expect("it goes on") {
        match item {
            Ok(event) => events.push(event),
            Err(failed) => error = Some(failed),
        }
    }
    Played { events, error }
}

impl Played {
    /// Returns the end: the outcome, or the code of the error.
    pub(crate) fn end(&self) -> Result<&SessionOutcome, &str> {
        match (self.events.last(), &self.error) {
            (_, Some(error)) => Err(error.code()),
            (Some(StreamEvent::End { outcome, .. }), None) => Ok(outcome),
            (last, None) => panic!("the last is {last:?}"),
        }
    }

    /// Returns all texts of the agent.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let texts = self.events.iter().filter_map(|event| match event {
            StreamEvent::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Asserts that the query completed with these texts.
    pub(crate) fn assert_completed(&self, texts: &[&str]) {
        assert_eq!(self.end(), Ok(&SessionOutcome::Completed), "{self:?}");
        assert_eq!(self.texts(), texts);
    }

    /// Asserts that the query failed with an error of this code whose text contains all parts.
    pub(crate) fn assert_failed(&self, code: &str, parts: &[&str]) {
        assert_eq!(self.end(), Err(code), "{self:?}");
        let text = self.error.as_ref().map(ToString::to_string);
        let text = text.unwrap_or_default();
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }
}

/// Generates a test of each function for each build.
macro_rules! on_both_builds {
    ($($name:ident),+ $(,)?) => {
        mod on_2_1_197 {
            $(#[tokio::test]
            async fn $name() {
                super::$name(autonoe_testkit::fake_claude::Build::V2_1_197).await;
            })+
        }
        mod on_2_1_325 {
            $(#[tokio::test]
            async fn $name() {
                super::$name(autonoe_testkit::fake_claude::Build::V2_1_325).await;
            })+
        }
    };
}
pub(crate) use on_both_builds;
