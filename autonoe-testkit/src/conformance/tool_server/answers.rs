//! Checks that the toolbox answers every call.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};

use super::{CallAnswer, Fixture, LIMIT, ToolsClient, Watch, call, key, toolbox};
use crate::conformance::checks::{CheckOutcome, Checks, Flaw, within};

pub(super) async fn check(fixture: &Fixture, checks: &mut Checks) {
    checks
        .run(
            "every tool is listed with its name and schema",
            listed(fixture),
        )
        .await;
    checks
        .run("a call is answered by its tool", answered(fixture))
        .await;
    checks
        .run(
            "arguments that do not fit reach no tool",
            invalid_inputs_fail(fixture),
        )
        .await;
    checks
        .run("the reason of a failed tool is reported", failed(fixture))
        .await;
    checks
        .run("an unknown tool is not called", unknown(fixture))
        .await;
    checks
        .run("a tool knows its session", knows_session(fixture))
        .await;
    checks
        .run("calls are carried out side by side", together(fixture))
        .await;
}

/// Runs a check with one client of one toolbox.
async fn with_client(
    fixture: &Fixture,
    check: impl AsyncFnOnce(Arc<dyn ToolsClient>, Arc<Watch>) -> CheckOutcome,
) -> CheckOutcome {
    let (tools, watch) = toolbox("one");
    let served = fixture.serve(1, tools).await?;
    let client = fixture.reach(&served).await?;
    let found = check(client, watch).await;
    drop(served);
    found
}

async fn listed(fixture: &Fixture) -> CheckOutcome {
    with_client(fixture, async |client, _| {
        let listed = within(LIMIT, "listing the tools", client.tools()).await?;
        let listed =
            listed.map_err(|error| Flaw::Failed(format!("the tools are not listed: {error}")))?;
        let mut names: Vec<_> = listed
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        names.sort_unstable();
        ensure!(
            names == ["echo", "fail", "meet", "session", "wait"],
            "the listed tools are {names:?}"
        );
        let echo = listed.iter().find(|tool| tool["name"] == json!("echo"));
        let schema = echo
            .map(|tool| &tool["inputSchema"])
            .unwrap_or(&Value::Null);
        ensure!(
            schema["properties"]["text"]["type"] == json!("string")
                && schema["required"] == json!(["text"]),
            "the listed schema of a tool is {schema}"
        );
        Ok(())
    })
    .await
}

async fn answered(fixture: &Fixture) -> CheckOutcome {
    with_client(fixture, async |client, watch| {
        let answer = call(&client, "echo", json!({"text": "hällo\n", "times": 2})).await?;
        ensure!(
            answer == CallAnswer::Done("one: hällo\n 2".into()),
            "the answer is {answer:?}"
        );
        // The toolbox converts values that models send as strings.
        let answer = call(&client, "echo", json!({"text": "x", "times": "3"})).await?;
        ensure!(
            answer == CallAnswer::Done("one: x 3".into()),
            "a number that came as a text was answered by {answer:?}"
        );
        ensure!(watch.called() == 2, "2 calls came to {}", watch.called());
        Ok(())
    })
    .await
}

async fn invalid_inputs_fail(fixture: &Fixture) -> CheckOutcome {
    with_client(fixture, async |client, watch| {
        for input in [
            json!({}),
            json!({"text": 7, "times": []}),
            json!({"text": "x", "times": 0}),
            json!({"text": "x", "more": 1}),
        ] {
            let answer = call(&client, "echo", input.clone()).await?;
            ensure!(
                matches!(answer, CallAnswer::Refused(_)),
                "{input} was answered by {answer:?}"
            );
        }
        ensure!(watch.called() == 0, "the tool was called");
        Ok(())
    })
    .await
}

async fn failed(fixture: &Fixture) -> CheckOutcome {
    with_client(fixture, async |client, _| {
        let answer = call(&client, "fail", json!({})).await?;
        let reports_error = matches!(&answer, CallAnswer::Refused(reason)
            if reason.contains("OUT_OF_PAPER") && reason.contains("there is no paper left"));
        ensure!(
            reports_error,
            "a tool that failed was answered by {answer:?}"
        );
        Ok(())
    })
    .await
}

async fn unknown(fixture: &Fixture) -> CheckOutcome {
    with_client(fixture, async |client, watch| {
        for name in ["", "ech", "ECHO", "../echo"] {
            let answer = call(&client, name, json!({"text": "x"})).await?;
            ensure!(
                matches!(answer, CallAnswer::Refused(_)),
                "{name:?} was answered by {answer:?}"
            );
        }
        ensure!(watch.called() == 0, "a tool was called");
        Ok(())
    })
    .await
}

async fn knows_session(fixture: &Fixture) -> CheckOutcome {
    with_client(fixture, async |client, _| {
        let answer = call(&client, "session", json!({})).await?;
        ensure!(
            answer == CallAnswer::Done(key(1).to_string()),
            "the session of the tool is {answer:?}"
        );
        Ok(())
    })
    .await
}

async fn together(fixture: &Fixture) -> CheckOutcome {
    with_client(fixture, async |client, _| {
        let calls = (0..2).map(|_| call(&client, "meet", json!({})));
        for answer in join_all(calls).await {
            let answer = answer?;
            ensure!(
                answer == CallAnswer::Done("one: met".into()),
                "the answer is {answer:?}"
            );
        }
        Ok(())
    })
    .await
}
