//! Agents that die, hang, or ignore a shutdown.

use std::time::Duration;

use autonoe_acp::AcpBackend;
use autonoe_core::AgentClientFactory;
use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use tokio::time::timeout;

use crate::agent::{Agent, TIME_LIMIT, TurnOutput};

#[tokio::test]
async fn an_agent_that_dies_at_any_stage_has_crashed() {
    let agents = [
        Agent {
            greeting: "exit 3",
            ..Agent::prompted("")
        },
        Agent {
            session: "echo Bad luck. >&2; exit 3",
            ..Agent::prompted("")
        },
        Agent::prompted("exit 3"),
        Agent::prompted("kill -9 $$"),
    ];
    for agent in agents {
        let fixture = agent.start();

        let output = fixture.turn().await;

        assert_eq!(
            output.error_kind(),
            Some(AgentErrorKind::Crashed),
            "{output:?}"
        );
    }
}

#[tokio::test]
async fn an_agent_with_another_protocol_version_in_a_later_session_is_refused() {
    let talk = Agent {
        greeting: r#"version=1; [ -f earlier ] && version=2; : > earlier
            answer '{"protocolVersion":'$version'}'"#,
        ..Agent::prompted("say One.; finish")
    }
    .start();
    let agents = AcpBackend::new(talk.options());
    let mut turns = Vec::new();
    for _ in 0..2 {
        let mut client = agents.create(talk.spec()).expect("it can be made");
        turns.push(TurnOutput::collect(client.as_mut()).await);
        talk.end(client).await;
    }

    assert!(turns[0].is_completed(), "{turns:?}");
    let kind = turns[1].error_kind();
    assert_eq!(kind, Some(AgentErrorKind::Protocol), "{turns:?}");
    assert!(turns[1].events.is_empty(), "{turns:?}");
}

#[tokio::test]
async fn an_agent_that_dies_between_turns_has_crashed() {
    let fixture = Agent::prompted("say One.; finish; exit 3").start();
    let mut client = fixture.client();

    let first = TurnOutput::collect(client.as_mut()).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let second = TurnOutput::collect(client.as_mut()).await;
    fixture.end(client).await;

    assert!(first.is_completed(), "{first:?}");
    assert_eq!(
        second.error_kind(),
        Some(AgentErrorKind::Crashed),
        "{second:?}"
    );
}

#[tokio::test]
async fn an_agent_that_closes_its_output_and_lives_is_ended() {
    for close in ["exec >&-; sleep 600", "say One.; exec >&-; sleep 600"] {
        let fixture = Agent::prompted(close).start();

        let output = fixture.turn().await;

        assert_eq!(
            output.error_kind(),
            Some(AgentErrorKind::Crashed),
            "{output:?}"
        );
    }
}

#[tokio::test]
async fn an_agent_without_a_version_or_a_session_id_is_refused() {
    let agents = [
        Agent {
            greeting: "answer '{\"protocolVersion\":2}'",
            ..Agent::prompted("")
        },
        Agent {
            session: "answer '{}'",
            ..Agent::prompted("")
        },
    ];
    for agent in agents {
        let fixture = agent.start();

        let output = fixture.turn().await;

        assert_eq!(
            output.error_kind(),
            Some(AgentErrorKind::Protocol),
            "{output:?}"
        );
    }
}

/// Ignores all signals that can be ignored.
const STUBBORN: &str = "trap '' INT TERM HUP; say Hm.; : > begun; while :; do sleep 1; done";

#[tokio::test]
async fn an_agent_that_ignores_everything_is_interrupted_nevertheless() {
    let fixture = Agent::prompted(STUBBORN).start();
    let mut client = fixture.client();
    let control = client.control();

    let interrupt = async {
        fixture.written("begun").await;
        control.interrupt().await.expect("it can be");
    };
    let turn = async { tokio::join!(TurnOutput::collect(client.as_mut()), interrupt).0 };
    let turn = timeout(TIME_LIMIT, turn).await.expect("it ends");
    fixture.end(client).await;

    assert_eq!(
        turn.outcome(),
        Some(&SessionOutcome::Interrupted),
        "{turn:?}"
    );
}

#[tokio::test]
async fn an_agent_that_never_starts_can_be_interrupted() {
    let agent = Agent {
        greeting: ": > begun; sleep 600",
        ..Agent::prompted("")
    };
    let fixture = agent.start();
    let mut client = fixture.client();
    let control = client.control();

    let interrupt = async {
        fixture.written("begun").await;
        control.interrupt().await.expect("it can be");
    };
    let turn = async { tokio::join!(TurnOutput::collect(client.as_mut()), interrupt).0 };
    let turn = timeout(TIME_LIMIT, turn).await.expect("it ends");
    fixture.end(client).await;

    assert_eq!(
        turn.outcome(),
        Some(&SessionOutcome::Interrupted),
        "{turn:?}"
    );
}

#[tokio::test]
async fn dropping_a_client_at_any_stage_ends_its_agent() {
    for agent in [
        Agent {
            greeting: ": > begun; exec sleep 600",
            ..Agent::prompted("")
        },
        Agent {
            session: ": > begun; exec sleep 600",
            ..Agent::prompted("")
        },
        Agent::prompted(": > begun; exec sleep 600"),
    ] {
        let fixture = agent.start();
        let mut client = fixture.client();
        {
            let turn = TurnOutput::collect(client.as_mut());
            tokio::select! {
                turn = turn => panic!("{turn:?}"),
                () = fixture.written("begun") => {}
            }
        }

        drop(client);

        timeout(TIME_LIMIT, fixture.nothing_is_left())
            .await
            .expect("it ends");
    }
}

#[tokio::test]
async fn a_silent_agent_times_out() {
    let fixture = Agent::prompted("sleep 600").start();
    let mut options = fixture.options();
    options.program.silence_limit = Duration::from_millis(500);
    let mut client = AcpBackend::new(options)
        .create(fixture.spec())
        .expect("it can be made");

    let output = TurnOutput::collect(client.as_mut()).await;
    fixture.end(client).await;

    assert_eq!(
        output.error_kind(),
        Some(AgentErrorKind::Timeout),
        "{output:?}"
    );
}
