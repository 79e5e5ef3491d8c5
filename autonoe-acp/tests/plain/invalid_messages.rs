//! Agents that send invalid or unexpected messages.

use crate::agent::{Agent, TurnOutput};

#[tokio::test]
async fn invalid_messages_are_skipped() {
    for noise in [
        "echo Welcome to the agent.",
        "echo",
        r#"echo '{"jsonrpc":"2.0","method":'"#,
        "echo '[]'",
        "echo 7",
        r#"echo '{"jsonrpc":"1.0","id":5,"result":null}'"#,
        r#"echo '{"jsonrpc":"2.0","id":"nobody-asked","result":{"stopReason":"end_turn"}}'"#,
        r#"echo '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}'"#,
        r#"echo '{"jsonrpc":"2.0","method":"session/update"}'"#,
        r#"echo '{"jsonrpc":"2.0","method":"session/update","params":[1]}'"#,
        r#"update '{"sessionUpdate":7}'"#,
        r"printf 'caf\351\n'",
        r"printf '\000\n'",
    ] {
        let agent = Agent {
            greeting: "eval \"$3\"; answer '{\"protocolVersion\":1}'",
            ..Agent::prompted(noise)
        };
        // The same output at the start and in a turn.
        let agent = Agent {
            prompt: format!(
                "{}; [ $turn = 0 ] || {{ say Done.; finish; }}",
                agent.prompt
            ),
            ..agent
        };
        let fixture = agent.start();

        let output = fixture.turn().await;

        assert!(output.is_completed(), "{noise}: {output:?}");
        assert_eq!(output.texts(), ["Done."], "{noise}");
    }
}

#[tokio::test]
async fn an_endless_line_fails_the_turn() {
    let fixture = Agent::prompted("tr '\\0' x < /dev/zero").start();

    let output = fixture.turn().await;

    let error = output.error.expect("it is not kept");
    assert!(error.to_string().contains("too long"), "{error}");
}

#[tokio::test]
async fn a_prompt_that_is_answered_twice_is_one_turn() {
    let fixture =
        Agent::prompted("say Done.; finish; finish; refuse '{\"code\":1,\"message\":\"x\"}'")
            .start();
    let mut client = fixture.client();

    for _ in 0..2 {
        let output = TurnOutput::collect(client.as_mut()).await;
        assert!(output.is_completed(), "{output:?}");
    }
    fixture.end(client).await;
}

#[tokio::test]
async fn messages_after_the_end_of_a_turn_are_not_part_of_the_next() {
    let script = "case $turn in 1) say One.; finish; say Late.; : > late ;; \
                  *) say Two.; finish ;; esac";
    let fixture = Agent::prompted(script).start();
    let mut client = fixture.client();

    let first = TurnOutput::collect(client.as_mut()).await;
    fixture.written("late").await;
    // The client reads the line a moment after the agent has written it. Many short pauses give
    // its tasks many turns, even if the machine stalls during one of them.
    for _ in 0..30 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let second = TurnOutput::collect(client.as_mut()).await;
    fixture.end(client).await;

    assert_eq!(first.texts()[0], "One.");
    assert_eq!(second.texts(), ["Two."]);
}
