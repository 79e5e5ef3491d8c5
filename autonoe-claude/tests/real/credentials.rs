//! Credentials in the environment of the backend, which must not reach tools.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use autonoe_claude::{ClaudeBackend, ClaudeOptions};
use autonoe_core::agent::{CredentialFilter, Sandbox};
use autonoe_core::{AgentClientFactory, StreamEvent};
use autonoe_testkit::model_server::Credential;
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::fixture::{Fixture, Login, collect_events};

/// Prints single variables, and then every credential in any environment.
fn search(secret: &str) -> Turn {
    let command = format!(
        r#"echo "key=[$ANTHROPIC_API_KEY] login=[$CLAUDE_CODE_OAUTH_TOKEN]" \
            "gateway=[$ANTHROPIC_AUTH_TOKEN] github=[$GITHUB_TOKEN] npm=[$NPM_TOKEN]"
        env | grep -a {secret}
        cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -a {secret}
        {{ cat <&100; }} 2>/dev/null | grep -a {secret}
        echo end"#
    );
    Turn::tool("Bash", json!({"command": command, "description": "look"}))
}

/// Runs one session whose tool searches for credentials, and returns the output of the tool.
async fn tool_output(fixture: &Fixture, options: ClaudeOptions, sandbox: Sandbox) -> String {
    let mut spec = fixture.spec([]);
    spec.sandbox = sandbox;
    spec.credential_filter = CredentialFilter::default().allow("NPM_TOKEN");
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Look.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
    let output = events.iter().find_map(|event| match event {
        StreamEvent::ToolResponse { output, .. } => Some(output.clone()),
        _ => None,
    });
    output.expect("the tool ran")
}

/// Returns the credentials that the program sent to its model.
fn credentials(fixture: &Fixture) -> Vec<Option<Credential>> {
    let exchanges = fixture.server.log().exchanges();
    let calls = exchanges.iter().filter(|it| it.path.contains("/messages"));
    calls.map(|it| it.headers.credential()).collect()
}

/// Returns a credential that no other test uses.
fn secret() -> String {
    let folder = tempfile::tempdir().expect("a folder with a random name");
    let name = folder.path().file_name().expect("it has one");
    format!("secret{}", name.to_string_lossy().replace('.', "-"))
}

/// Returns a fixture whose tool searches for a credential, and that credential.
fn fixture(build: Build, login: Login) -> (Fixture, String) {
    let secret = secret();
    let script = ModelScript::new([search(&secret), Turn::text("Seen.")]);
    (Fixture::with_login(build, script, login), secret)
}

async fn a_tool_gets_no_credentials_but_those_that_are_allowed(build: Build) {
    for (login, variable, kind) in [
        (Login::ApiKey, "ANTHROPIC_API_KEY", Credential::ApiKey),
        (
            Login::Subscription,
            "CLAUDE_CODE_OAUTH_TOKEN",
            Credential::Bearer,
        ),
    ] {
        // The older build is tested once per login, because it reads them differently.
        let sandboxes = match (build, login) {
            (Build::OLDER, Login::ApiKey) => &[Sandbox::Required][..],
            (Build::OLDER, _) => &[Sandbox::Off],
            _ => &[Sandbox::Required, Sandbox::Off],
        };
        for &sandbox in sandboxes {
            let (fixture, secret) = fixture(build, login);
            let mut options = fixture.options();
            for name in [variable, "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"] {
                options
                    .program
                    .environment
                    .insert(name.into(), secret.clone().into());
            }
            options
                .program
                .environment
                .insert("NPM_TOKEN".into(), "allowed".into());

            let output = tool_output(&fixture, options, sandbox).await;

            assert_eq!(
                output, "key=[] login=[] gateway=[] github=[] npm=[allowed]\nend",
                "{login:?} {sandbox:?}"
            );
            let credentials = credentials(&fixture);
            assert!(!credentials.is_empty());
            assert!(
                credentials.iter().all(|it| *it == Some(kind)),
                "{credentials:?}"
            );
        }
    }
}

/// Claude Code reads this token only from its environment, so Bash unsets it.
async fn a_command_does_not_get_the_token_of_a_gateway(build: Build) {
    for sandbox in [Sandbox::Required, Sandbox::Off] {
        let (fixture, secret) = fixture(build, Login::None);
        let mut options = fixture.options();
        let name = "ANTHROPIC_AUTH_TOKEN".into();
        options
            .program
            .environment
            .insert(name, secret.clone().into());

        let output = tool_output(&fixture, options, sandbox).await;

        let (variables, _) = output.split_once('\n').expect("several lines");
        assert_eq!(variables, "key=[] login=[] gateway=[] github=[] npm=[]");
        let credentials = credentials(&fixture);
        assert!(
            credentials.contains(&Some(Credential::Bearer)),
            "{credentials:?}"
        );
    }
}

/// An MCP server without tools that writes its token to a file.
const SERVER: &str = r#"#!/bin/bash
echo "$TOKEN" > "$1"
while read -r line; do
    [[ $line =~ \"id\":([0-9]+) ]] || continue
    case $line in
        *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
        *'"tools/list"'*) result='{"tools":[]}' ;;
        *) result='{}' ;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":${BASH_REMATCH[1]},\"result\":$result}"
done
"#;

// Shows: spec/4.1.2/browser-ends-with-its-session
async fn an_mcp_server_gets_its_credentials_and_no_tool_reads_them_from_a_file(build: Build) {
    let secret = secret();
    // The shell prints a pattern without matches unchanged.
    let input = json!({"command": "echo ../tmp/*/mcp-servers.json", "description": "look"});
    let script = ModelScript::new([Turn::tool("Bash", input), Turn::text("Seen.")]);
    let fixture = Fixture::new(build, script);
    let server = fixture.folder.join("server.sh");
    fs::write(&server, SERVER).expect("writable");
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut options = fixture.options();
    let name = "GITHUB_TOKEN".into();
    options
        .program
        .environment
        .insert(name, secret.clone().into());
    let server = json!({
        "command": server,
        "args": [fixture.folder.join("token")],
        "env": {"TOKEN": "${GITHUB_TOKEN}"},
    });
    let server = serde_json::from_value(server).expect("a server");
    let mut spec = fixture.spec([]);
    spec.mcp_servers.insert("github".into(), server);
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Look.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let token = fs::read_to_string(fixture.folder.join("token"));
    assert_eq!(token.expect("the server ran"), format!("{secret}\n"));
    let output = events.iter().find_map(|event| match event {
        StreamEvent::ToolResponse { output, .. } => Some(output.as_str()),
        _ => None,
    });
    assert_eq!(output, Some("../tmp/*/mcp-servers.json"));
    fixture.assert_nothing_is_left();
}

on_both_builds![
    a_tool_gets_no_credentials_but_those_that_are_allowed;
    newer_only:
    an_mcp_server_gets_its_credentials_and_no_tool_reads_them_from_a_file,
    a_command_does_not_get_the_token_of_a_gateway,
];
