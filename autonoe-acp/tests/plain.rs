//! Any agent by its command line: here a script for the shell that speaks the protocol.

use std::fs;
use std::path::Path;
use std::time::Duration;

use autonoe_acp::{AcpAgents, AcpOptions};
use autonoe_core::{
    AgentClientFactory, AgentErrorKind, Gate, Grants, Places, RunId, Sandbox, SessionKey,
    SessionOutcome, SessionSpec, StreamEvent, Toolbox,
};
use futures::StreamExt;
use tokio::time::timeout;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers what every agent is asked; `$1` is what comes of a prompt, and after its input ended
/// the agent stays.
const AGENT: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  update() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}\n' "$1"; }
  case "$line" in
    *'"method":"initialize"'*) answer '{"protocolVersion":1}' ;;
    *'"method":"session/new"'*) answer '{"sessionId":"s"}' ;;
    *'"method":"session/prompt"'*)
      update '{"sessionUpdate":"a_kind_of_tomorrow","x":[1]}'
      printf '{"jsonrpc":"2.0","method":"tomorrow/news","params":{}}\n'
      eval "$1" ;;
  esac
done
exec sleep 600
"#;

fn agents(folder: &Path, prompt: &str) -> AcpAgents {
    let environment = [("PATH".into(), std::env::var_os("PATH").unwrap_or_default())];
    let options = AcpOptions::new("script", "/bin/sh", environment)
        .with_args(["-c", AGENT, "agent", prompt])
        .with_temporary(folder);
    AcpAgents::new(options)
}

fn spec(folder: &Path) -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(Places::new(folder), Grants::none());
    let mut spec = SessionSpec::new(key, folder, gate, Toolbox::new([]));
    spec.sandbox = Sandbox::Off;
    spec
}

/// Plays one turn, ends the session, and returns what was said and how it ended.
async fn turn(prompt: &str) -> (Vec<String>, Result<SessionOutcome, AgentErrorKind>) {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let mut client = agents(folder.path(), prompt)
        .create(spec(folder.path()))
        .expect("it can be made");
    let events: Vec<_> = timeout(PATIENCE, client.query("Go.".into()).collect())
        .await
        .expect("it ends");
    // It does not end with its input, so it is ended by force.
    timeout(PATIENCE, client.dispose())
        .await
        .expect("it ends")
        .expect("it can be ended");
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0);
    let (mut texts, mut end) = (Vec::new(), Err(AgentErrorKind::Other));
    for event in events {
        match event {
            Ok(StreamEvent::Text { text, .. }) => texts.push(text),
            Ok(StreamEvent::End { outcome, .. }) => end = Ok(outcome),
            Ok(_) => {}
            Err(error) => end = Err(error.kind()),
        }
    }
    (texts, end)
}

const SAYS: &str =
    r#"update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."}}'"#;

#[tokio::test]
async fn an_agent_is_heard_and_what_nobody_knows_is_no_error() {
    let prompt = format!("{SAYS}; answer '{{\"stopReason\":\"end_turn\"}}'");

    let (texts, end) = turn(&prompt).await;

    assert_eq!(texts, ["Hello."]);
    assert_eq!(end, Ok(SessionOutcome::Completed));
}

#[tokio::test]
async fn a_turn_without_a_word_is_no_success() {
    let (_, end) = turn(r#"answer '{"stopReason":"end_turn"}'"#).await;

    assert!(
        matches!(end, Ok(SessionOutcome::ExecutionError { .. })),
        "{end:?}"
    );
}

#[tokio::test]
async fn an_agent_that_breaks_off_has_crashed() {
    let (texts, end) = turn(&format!("{SAYS}; exit 3")).await;

    assert_eq!(texts, ["Hello."]);
    assert_eq!(end, Err(AgentErrorKind::Crashed));
}

#[tokio::test]
async fn a_program_that_is_no_agent_is_told_as_one() {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let options = AcpOptions::new("no agent", "/bin/true", []).with_temporary(folder.path());

    let error = timeout(PATIENCE, AcpAgents::new(options).probe())
        .await
        .expect("it ends")
        .expect_err("it is none");

    assert_eq!(error.kind(), AgentErrorKind::Crashed, "{error}");
}
