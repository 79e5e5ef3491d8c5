//! Fixture: an ACP agent that is a shell script, a project, and a client for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_acp::{AcpBackend, AcpOptions};
use autonoe_core::agent::{AgentErrorKind, Sandbox, SessionOutcome};
use autonoe_core::gate::{Gate, Grants, PermissionRule, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, RunId, SessionSpec, StreamEvent};
use autonoe_testkit::program::sessions_in;
use futures::StreamExt;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;

/// Time limit of any step on a busy machine.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Answers the requests that every agent receives. The reaction to each request is a script: `$1`
/// for `initialize`, `$2` for a new or a loaded session, `$3` for a prompt; `$4` runs after the
/// input has ended. All replies to `ask` are written to the file `replies`.
const AGENT: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":%s}\n' "$id" "$1"; }
notify() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":%s}}\n' "$1" "$2"; }
update() { notify s "$1"; }
say() { update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"'"}}'; }
request() {
  printf '{"jsonrpc":"2.0","id":"q","method":"%s","params":%s}\n' "$1" "$2"
  while read -r reply; do case "$reply" in *'"id":"q"'*) break ;; esac; done
  printf '%s\n' "$reply" >> replies
}
ask_in() { request session/request_permission '{"sessionId":"'"$1"'","toolCall":'"$2"',"options":'"$3"'}'; }
once='[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]'
ask() { ask_in s "$1" "${2:-$once}"; }
finish() { answer '{"stopReason":"end_turn"}'; }
turn=0
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case "$line" in
    *'"method":"initialize"'*) eval "$1" ;;
    *'"method":"session/new"'* | *'"method":"session/load"'*) eval "$2" ;;
    *'"method":"session/prompt"'*) turn=$((turn + 1)); eval "$3" ;;
    *'"method":"session/cancel"'*) : > cancelled ;;
  esac
done
eval "$4"
"#;

/// Builder of an agent. By default it succeeds at everything.
pub(crate) struct Agent {
    pub(crate) greeting: &'static str,
    pub(crate) session: &'static str,
    pub(crate) prompt: String,
    /// The script that runs when its input has ended.
    pub(crate) at_last: &'static str,
}

impl Agent {
    pub(crate) fn prompted(prompt: impl Into<String>) -> Self {
        Self {
            greeting: r#"answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}'"#,
            session: r#"answer '{"sessionId":"s"}'"#,
            prompt: prompt.into(),
            at_last: ":",
        }
    }

    pub(crate) fn start(self) -> Fixture {
        Fixture::with(self)
    }
}

/// A project with an agent.
pub(crate) struct Fixture {
    _folders: TempDir,
    project: PathBuf,
    temporary: PathBuf,
    agent: Agent,
}

impl Fixture {
    fn with(agent: Agent) -> Self {
        let folders = tempfile::tempdir().expect("a directory can be made");
        let folder = folders.path().canonicalize().expect("it is there");
        let (project, temporary) = (folder.join("project"), folder.join("tmp"));
        for folder in [&project, &temporary] {
            fs::create_dir(folder).expect("it can be made");
        }
        Self {
            _folders: folders,
            project,
            temporary,
            agent,
        }
    }

    pub(crate) fn options(&self) -> AcpOptions {
        let environment = [("PATH".into(), std::env::var_os("PATH").unwrap_or_default())];
        let Agent {
            greeting,
            session,
            prompt,
            at_last,
        } = &self.agent;
        let args = ["-c", AGENT, "agent", greeting, session, prompt, at_last];
        let mut options = AcpOptions::new("script", "/bin/sh", environment);
        options.args = args.map(Into::into).into();
        options.program.temporary.clone_from(&self.temporary);
        options
    }

    /// Returns a spec that allows running `ls` and writing files of the project.
    pub(crate) fn spec(&self) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let rules = ["Bash(ls:*)", "Write(./**)", "Other"]
            .map(|rule| rule.parse::<PermissionRule>().expect("a rule"));
        let grants = Grants::none().with_rules(rules);
        let gate = Gate::new(ProjectPaths::new(&self.project), grants);
        let mut spec = SessionSpec::new(key, &self.project, gate, Toolbox::new([]));
        spec.sandbox = Sandbox::Off;
        spec
    }

    pub(crate) fn client(&self) -> Box<dyn AgentClient> {
        self.client_of(self.spec())
    }

    pub(crate) fn client_of(&self, spec: SessionSpec) -> Box<dyn AgentClient> {
        let agents = AcpBackend::new(self.options());
        agents.create(spec).expect("it can be made")
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    /// Returns the outcomes of the agent's permission requests: the selected option, or another
    /// property of the answer.
    pub(crate) fn replies(&self) -> Vec<String> {
        let replies = fs::read_to_string(self.file("replies")).unwrap_or_default();
        let reply = |line: &str| {
            let reply: Value = serde_json::from_str(line).expect("JSON");
            let outcome = &reply["result"]["outcome"];
            let option = outcome["optionId"].as_str().or(outcome["outcome"].as_str());
            match option {
                Some(option) => option.to_owned(),
                None => format!("error {}", reply["error"]["code"]),
            }
        };
        replies.lines().map(reply).collect()
    }

    /// Plays one turn in a session of its own.
    pub(crate) async fn turn(&self) -> TurnOutput {
        let mut client = self.client();
        let output = TurnOutput::collect(client.as_mut()).await;
        self.end(client).await;
        output
    }

    /// Waits until the agent has written the file `name`.
    pub(crate) async fn written(&self, name: &str) {
        let wait = async {
            while !self.file(name).exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TIME_LIMIT, wait).await.expect("it is written");
    }

    /// Waits until no process and no folder of any session is left.
    pub(crate) async fn nothing_is_left(&self) {
        while !sessions_in(&self.temporary).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends a session, and asserts that nothing of it is left.
    pub(crate) async fn end(&self, client: Box<dyn AgentClient>) {
        let ended = timeout(TIME_LIMIT, client.dispose()).await;
        ended.expect("it ends").expect("it can be ended");
        assert_eq!(sessions_in(&self.temporary), Vec::<String>::new());
    }
}

/// The events and the error of a turn.
#[derive(Debug)]
pub(crate) struct TurnOutput {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) error: Option<AgentError>,
}

impl TurnOutput {
    pub(crate) async fn collect(client: &mut dyn AgentClient) -> Self {
        let (mut events, mut error) = (Vec::new(), None);
        let mut stream = client.query("Go.".into());
        while let Some(item) = timeout(TIME_LIMIT, stream.next())
            .await
            .expect("it goes on")
        {
            match item {
                Ok(event) => events.push(event),
                Err(failed) => error = Some(failed),
            }
        }
        Self { events, error }
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        let texts = self.events.iter().filter_map(|event| match event {
            StreamEvent::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the started and the ended calls, in order.
    pub(crate) fn calls(&self) -> Vec<String> {
        let calls = self.events.iter().filter_map(|event| match event {
            StreamEvent::ToolInvocation { call_id, name, .. } => Some(format!("{call_id}: {name}")),
            StreamEvent::ToolResponse {
                call_id, status, ..
            } => Some(format!("{call_id}: {}", status_name(*status))),
            _ => None,
        });
        calls.collect()
    }

    pub(crate) fn outcome(&self) -> Option<&SessionOutcome> {
        match self.events.last() {
            Some(StreamEvent::End { outcome, .. }) => Some(outcome),
            _ => None,
        }
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.outcome() == Some(&SessionOutcome::Completed)
    }

    pub(crate) fn error_kind(&self) -> Option<AgentErrorKind> {
        self.error.as_ref().map(AgentError::kind)
    }
}

fn status_name(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Ok => "ok",
        ToolStatus::Denied => "denied",
        _ => "error",
    }
}
