//! Checks that a server stops together with the tools it serves.

use serde_json::json;

use super::{CallAnswer, Fixture, LIMIT, call, toolbox};
use crate::conformance::checks::{CheckOutcome, Checks, within};

pub(super) async fn check(fixture: &Fixture, checks: &mut Checks) {
    checks
        .run("it ends with the tools that it served", is_stopped(fixture))
        .await;
    checks
        .run("a running call is cancelled at the end", cancelled(fixture))
        .await;
    checks
        .run(
            "the end of one session does not affect others",
            other_servers_keep_serving(fixture),
        )
        .await;
}

async fn is_stopped(fixture: &Fixture) -> CheckOutcome {
    let (tools, watch) = toolbox("one");
    let served = fixture.serve(1, tools).await?;
    let (address, client) = (served.server.clone(), fixture.reach(&served).await?);
    call(&client, "echo", json!({"text": "x"})).await?;

    drop(served);

    let after = within(
        LIMIT,
        "a call after the end",
        client.call("echo", json!({"text": "x"})),
    )
    .await?;
    ensure!(
        !matches!(after, Ok(CallAnswer::Done(_))),
        "a call after the end was answered by {after:?}"
    );
    let reconnected = within(LIMIT, "connecting", fixture.harness.connect(&address)).await?;
    if let Ok(client) = reconnected {
        let listed = within(LIMIT, "listing the tools", client.tools()).await?;
        ensure!(listed.is_err(), "its tools are still listed: {listed:?}");
    }
    ensure!(watch.called() == 1, "a tool was called after the end");
    Ok(())
}

async fn cancelled(fixture: &Fixture) -> CheckOutcome {
    let (tools, watch) = toolbox("one");
    let served = fixture.serve(1, tools).await?;
    let client = fixture.reach(&served).await?;
    let waiting = client.clone();
    let waiting = tokio::spawn(async move { waiting.call("wait", json!({})).await });
    within(LIMIT, "the begin of a call", watch.waiting.notified()).await?;

    drop(served);

    within(LIMIT, "the end of a cancelled call", watch.over.notified()).await?;
    let answer = within(LIMIT, "the answer to a cancelled call", waiting).await?;
    ensure!(
        !matches!(answer, Ok(Ok(CallAnswer::Done(_)))),
        "a cancelled call was answered by {answer:?}"
    );
    Ok(())
}

async fn other_servers_keep_serving(fixture: &Fixture) -> CheckOutcome {
    let one = fixture.serve(1, toolbox("one").0).await?;
    let two = fixture.serve(2, toolbox("two").0).await?;
    let client = fixture.reach(&two).await?;

    drop(one);

    let answer = call(&client, "echo", json!({"text": "x"})).await?;
    ensure!(
        answer == CallAnswer::Done("two: x 1".into()),
        "after the end of another session the answer is {answer:?}"
    );
    let reconnected = fixture.reach(&two).await?;
    call(&reconnected, "echo", json!({"text": "x"}))
        .await
        .map(|_| ())
}
