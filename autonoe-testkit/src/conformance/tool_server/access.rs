//! Checks that a server is reachable only on this machine and only with its secret.

use std::collections::BTreeMap;

use autonoe_core::tool::McpServer;
use serde_json::json;

use super::{CallAnswer, Fixture, LIMIT, call, toolbox};
use crate::conformance::checks::{CheckOutcome, Checks, Flaw, within};

pub(super) async fn check(fixture: &Fixture, checks: &mut Checks) {
    checks
        .run(
            "it is reachable from this machine only",
            on_this_machine(fixture),
        )
        .await;
    checks
        .run(
            "no client gets access without the secret",
            without_secret(fixture),
        )
        .await;
    checks
        .run(
            "the secret of one session opens no other",
            swapped_secrets_are_rejected(fixture),
        )
        .await;
    checks
        .run("each session has its own tools", own_tools(fixture))
        .await;
    checks
        .run(
            "a session that is served twice has two secrets",
            two_secrets(fixture),
        )
        .await;
}

async fn on_this_machine(fixture: &Fixture) -> CheckOutcome {
    let served = fixture.serve(1, toolbox("one").0).await?;
    let McpServer::Remote { url, .. } = &served.server else {
        return Err(Flaw::Untestable("it is configured as a command".into()));
    };
    let loopback = ["http://127.0.0.1:", "http://[::1]:", "http://localhost:"];
    ensure!(
        loopback.iter().any(|loopback| url.starts_with(loopback)),
        "its address is reachable from other machines"
    );
    Ok(())
}

async fn without_secret(fixture: &Fixture) -> CheckOutcome {
    let (tools, watch) = toolbox("one");
    let served = fixture.serve(1, tools).await?;
    let wrong = wrong_secrets(&served.server);
    ensure!(!wrong.is_empty(), "its configuration contains no secret");
    for (problem, server) in wrong {
        ensure!(
            !gets_in(fixture, &server).await?,
            "a client gets access with {problem}"
        );
    }
    ensure!(watch.called() == 0, "a tool was called");
    // The right secret still works.
    fixture.reach(&served).await.map(|_| ())
}

async fn swapped_secrets_are_rejected(fixture: &Fixture) -> CheckOutcome {
    let (one, one_watch) = toolbox("one");
    let (two, two_watch) = toolbox("two");
    let (one, two) = (fixture.serve(1, one).await?, fixture.serve(2, two).await?);
    let mixed = with_secrets_of(&one.server, &two.server);
    let Some(mixed) = mixed else {
        return Err(Flaw::Untestable("its secrets are in its addresses".into()));
    };
    // Some servers identify a session by its secret alone. Then the session of the secret is
    // served.
    if let Ok(client) = within(LIMIT, "connecting", fixture.harness.connect(&mixed)).await? {
        let answer = client.call("echo", json!({"text": "x"})).await;
        ensure!(
            !matches!(&answer, Ok(CallAnswer::Done(text)) if text.starts_with("one")),
            "a tool of another session answered: {answer:?}"
        );
    }
    ensure!(
        one_watch.called() == 0,
        "a tool of another session was called"
    );
    ensure!(
        two_watch.called() <= 1,
        "a tool was called more often than requested"
    );
    Ok(())
}

async fn own_tools(fixture: &Fixture) -> CheckOutcome {
    let mut clients = Vec::new();
    let mut all = Vec::new();
    for number in 1..=8 {
        let (tools, watch) = toolbox(&format!("mark {number}"));
        let served = fixture.serve(number, tools).await?;
        clients.push(fixture.reach(&served).await?);
        all.push((served, watch));
    }
    for (client, number) in clients.iter().zip(1..) {
        let answer = call(client, "echo", json!({"text": "x"})).await?;
        let expected = CallAnswer::Done(format!("mark {number}: x 1"));
        ensure!(
            answer == expected,
            "session {number} was answered by {answer:?}"
        );
    }
    for (_, watch) in &all {
        ensure!(
            watch.called() == 1,
            "a tool was called {} times",
            watch.called()
        );
    }
    Ok(())
}

async fn two_secrets(fixture: &Fixture) -> CheckOutcome {
    let first = fixture.serve(1, toolbox("one").0).await?;
    let second = fixture.serve(1, toolbox("one").0).await?;
    let are_distinct = match secrets(&first.server) {
        known if known.is_empty() => first.server != second.server,
        known => known != secrets(&second.server),
    };
    ensure!(are_distinct, "both are opened by the same secret");
    Ok(())
}

/// Returns whether a client with the wrong secret gets access.
async fn gets_in(fixture: &Fixture, server: &McpServer) -> CheckOutcome<bool> {
    let connected = within(LIMIT, "connecting", fixture.harness.connect(server)).await?;
    let Ok(client) = connected else {
        return Ok(false);
    };
    let listed = within(LIMIT, "listing the tools", client.tools()).await?;
    let called = within(LIMIT, "a call", client.call("echo", json!({"text": "x"}))).await?;
    Ok(listed.is_ok() || called.is_ok())
}

/// Returns descriptions of the server with a missing or wrong secret.
fn wrong_secrets(server: &McpServer) -> Vec<(String, McpServer)> {
    let known = secrets(server);
    if known.is_empty() {
        let McpServer::Remote { url, .. } = server else {
            return Vec::new();
        };
        let mut other = server.clone();
        replace_url(&mut other, &altered(url));
        return vec![("another address".to_owned(), other)];
    }
    let none = ("none".to_owned(), with_secrets(server, BTreeMap::new()));
    let wrong = known.iter().flat_map(|(name, value)| {
        let wrong = [
            ("another", altered(value)),
            ("half of", half(value)),
            ("an empty", String::new()),
        ];
        wrong.map(|(problem, value)| {
            let mut secrets = known.clone();
            secrets.insert(name.clone(), value);
            (format!("{problem} {name}"), with_secrets(server, secrets))
        })
    });
    std::iter::once(none).chain(wrong).collect()
}

/// Returns the parts of the description besides the address: headers or variables.
fn secrets(server: &McpServer) -> BTreeMap<String, String> {
    match server {
        McpServer::Remote { headers, .. } => headers.clone(),
        McpServer::Stdio { env, .. } => env.clone(),
        _ => BTreeMap::new(),
    }
}

fn with_secrets(server: &McpServer, secrets: BTreeMap<String, String>) -> McpServer {
    let mut server = server.clone();
    match &mut server {
        McpServer::Remote { headers, .. } => *headers = secrets,
        McpServer::Stdio { env, .. } => *env = secrets,
        _ => {}
    }
    server
}

fn with_secrets_of(address: &McpServer, secret: &McpServer) -> Option<McpServer> {
    let secrets = secrets(secret);
    (!secrets.is_empty()).then(|| with_secrets(address, secrets))
}

fn replace_url(server: &mut McpServer, to: &str) {
    if let McpServer::Remote { url, .. } = server {
        *url = to.to_owned();
    }
}

/// Changes the last letter or digit.
fn altered(text: &str) -> String {
    let place = text.rfind(|c: char| c.is_ascii_alphanumeric());
    let Some(place) = place else {
        return format!("{text}x");
    };
    let other = if text[place..].starts_with('a') {
        "b"
    } else {
        "a"
    };
    format!("{}{other}{}", &text[..place], &text[place + 1..])
}

fn half(text: &str) -> String {
    text.chars().take(text.chars().count() / 2).collect()
}
