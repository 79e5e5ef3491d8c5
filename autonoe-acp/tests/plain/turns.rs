//! Single turns of an agent that keeps to the protocol.

use autonoe_acp::{AcpAgents, AcpOptions};
use autonoe_core::{AgentClientFactory, AgentErrorKind, SessionOutcome};
use tokio::time::timeout;

use crate::agent::{Agent, PATIENCE};

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
