//! Single turns of an agent that keeps to the protocol.

use autonoe_acp::{AcpAgents, AcpOptions, HomeFolder};
use autonoe_core::{AgentClientFactory, AgentErrorKind, SessionField, SessionOutcome};
use tokio::time::timeout;

use crate::agent::{Agent, Heard, PATIENCE};

#[tokio::test]
async fn an_agent_is_heard_and_what_nobody_knows_is_no_error() {
    let agent = Agent {
        // It does not end with its input, so it is ended by force.
        at_last: "exec sleep 600",
        ..Agent::prompted(
            r#"update '{"sessionUpdate":"a_kind_of_tomorrow","x":[1]}'
            printf '{"jsonrpc":"2.0","method":"tomorrow/news","params":{}}\n'
            say Hello.; finish"#,
        )
    };

    let heard = agent.start().turn().await;

    assert_eq!(heard.texts(), ["Hello."]);
    assert!(heard.is_completed(), "{heard:?}");
}

#[tokio::test]
async fn a_turn_without_a_word_is_no_success() {
    let heard = Agent::prompted("finish").start().turn().await;

    let outcome = heard.outcome();
    let failed = matches!(outcome, Some(SessionOutcome::ExecutionError { .. }));
    assert!(failed, "{heard:?}");
}

#[tokio::test]
async fn an_agent_that_breaks_off_has_crashed() {
    let heard = Agent::prompted("say Hello.; exit 3").start().turn().await;

    assert_eq!(heard.texts(), ["Hello."]);
    assert_eq!(heard.error_kind(), Some(AgentErrorKind::Crashed));
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

/// A home or a folder for temporary files that a session chose would not be swept after it, nor be
/// writable in the sandbox.
#[tokio::test]
async fn a_session_does_not_choose_the_folders_of_the_agent() {
    let talk = Agent::prompted(r#"say "$HOME:$TMPDIR:$OTHER"; finish"#).start();
    let mut spec = talk.spec();
    for name in ["HOME", "TMPDIR", "OTHER"] {
        spec.environment
            .insert(name.to_owned(), "/elsewhere".to_owned());
    }
    for home in [HomeFolder::PerSession, HomeFolder::Kept(talk.file("home"))] {
        let agents = AcpAgents::new(talk.options().with_home(home.clone()));
        let mut client = agents.create(spec.clone()).expect("it can be made");

        let heard = Heard::of(client.as_mut()).await;
        talk.end(client).await;

        let said = heard.texts().concat();
        let is_chosen: Vec<_> = said.split(':').map(|path| path == "/elsewhere").collect();
        assert_eq!(is_chosen, [false, false, true], "{home:?}: {said}");
    }
}

/// The protocol has no setting that keeps an agent from reading memory files.
#[tokio::test]
async fn a_session_without_project_memory_is_refused() {
    let talk = Agent::prompted("say Hello.; finish").start();
    let mut spec = talk.spec();
    spec.project_memory = false;

    let error = AcpAgents::new(talk.options())
        .create(spec)
        .expect_err("it cannot be kept");

    assert_eq!(
        error.kind(),
        AgentErrorKind::Unclaimed(SessionField::ProjectMemory),
        "{error}"
    );
}
