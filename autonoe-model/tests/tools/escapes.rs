//! Tests of escapes from the workspace and from the sandbox.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use autonoe_core::tool::ToolErrorCode;
use autonoe_process::Network;
use serde_json::json;

use crate::tools::fixture::Fixture;

#[tokio::test]
async fn no_path_of_a_file_tool_leaves_the_workspace() {
    let fixture = Fixture::new();
    fixture.link("out", fixture.neighbour());
    fixture.link("up", "../neighbour");
    fixture.link("key", fixture.neighbour().join("key"));
    fixture.file("src/x", "secret");
    let absolute = fixture.neighbour().join("key").display().to_string();

    for path in [
        "out/key",
        "up/key",
        "key",
        "../neighbour/key",
        absolute.as_str(),
        "src/../../neighbour/key",
    ] {
        for (tool, input) in [
            ("Read", json!({"file_path": path})),
            ("Write", json!({"file_path": path, "content": "x"})),
            (
                "Edit",
                json!({"file_path": path, "old_string": "secret", "new_string": "x"}),
            ),
            ("Grep", json!({"path": path, "pattern": "secret"})),
        ] {
            let code = fixture.refused(tool, input).await;
            assert_eq!(code, ToolErrorCode::PERMISSION_DENIED, "{tool} {path}");
        }
    }
    for input in [
        json!({"pattern": "*", "path": "out"}),
        json!({"pattern": "../neighbour/*"}),
        json!({"pattern": format!("{}/*", fixture.neighbour().display())}),
    ] {
        let code = fixture.refused("Glob", input.clone()).await;
        assert_eq!(code, ToolErrorCode::PERMISSION_DENIED, "{input}");
    }
    let new = json!({"file_path": "out/new", "content": "x"});
    fixture.refused("Write", new).await;
    // Searches do not follow the links either.
    assert_eq!(
        fixture.ok("Grep", json!({"pattern": "secret"})).await,
        "src/x\n"
    );
    let key = fs::read_to_string(fixture.neighbour().join("key"));
    assert_eq!(key.expect("there"), "secret\n");
    assert_eq!(fs::read_dir(fixture.neighbour()).expect("there").count(), 1);
}

#[tokio::test]
async fn a_command_writes_nothing_outside_and_reads_nothing_hidden() {
    let fixture = Fixture::with(|_| {});
    let neighbour = fixture.neighbour();
    let fixture = Fixture::with(|options| {
        options.hidden = vec![neighbour.clone(), ".env".into()];
        options.read_only = vec![".autonoe".into()];
    });
    fixture.file(".env", "KEY=secret\n");
    fixture.file(".autonoe/status.json", "{}");
    let other = fixture.neighbour();
    let command = format!(
        "exec 2>/dev/null
         cat {hidden}/key .env
         for place in {other}/new {hidden}/new /etc/new /usr/new /var/tmp/new-of-test .autonoe/status.json; do
             (echo x > $place) && echo wrote $place
         done
         rm -rf .autonoe; mv .autonoe moved && echo moved
         echo fine > src/new; cat src/new",
        hidden = neighbour.display(),
        other = other.display(),
    );

    let output = fixture.ok("Bash", json!({"command": command})).await;

    assert_eq!(output, "fine\n");
    assert_eq!(fixture.text(".autonoe/status.json"), "{}");
    assert_eq!(fs::read_dir(&other).expect("there").count(), 1);
    for (tool, input) in [
        ("Read", json!({"file_path": ".env"})),
        ("Grep", json!({"pattern": "secret", "path": ".env"})),
    ] {
        assert_eq!(fixture.refused(tool, input).await, ToolErrorCode::NOT_FOUND);
    }
    assert_eq!(
        fixture.ok("Grep", json!({"pattern": "secret"})).await,
        "[no matches]\n"
    );
}

#[tokio::test]
async fn a_command_reaches_a_listener_only_where_it_has_a_network() {
    for network in [Network::Off, Network::Shared] {
        let fixture = Fixture::with(|options| options.network = network);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("ours");
        let port = listener.local_addr().expect("bound").port();

        let command = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached");
        let output = fixture.call("Bash", json!({"command": command})).await;

        let output = output.expect("it ran");
        let reached = listener.accept();
        match network {
            Network::Off => {
                assert_eq!(output.metadata["exitCode"], 1);
                assert_eq!(reached.expect_err("nobody").kind(), ErrorKind::WouldBlock);
            }
            Network::Shared => {
                assert_eq!(output.output, "reached\n");
                reached.expect("it was reached");
            }
        }
    }
}

#[tokio::test]
async fn a_command_neither_kills_nor_reads_a_foreign_process() {
    let fixture = Fixture::new();
    let mut victim = Command::new("sleep")
        .arg("600")
        .env("API_KEY", "the-key-of-the-host")
        .stdin(Stdio::null())
        .spawn()
        .expect("it starts");
    let pid = victim.id();
    let command = format!(
        "kill -9 {pid} 2>/dev/null && echo killed
         cat /proc/{pid}/environ /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep API_KEY
         env | grep -c API_KEY; ls /proc | grep -cx {pid}"
    );

    let output = fixture.ok("Bash", json!({"command": command})).await;

    let ended = victim.try_wait().expect("ours");
    victim.kill().expect("ours");
    victim.wait().expect("ours");
    assert_eq!(output, "0\n0\n[exit code 1]\n");
    assert_eq!(ended, None, "it was killed");
}

#[tokio::test]
async fn a_command_has_exactly_the_configured_environment() {
    // The test process itself has many more variables, like a host with keys.
    assert!(std::env::vars_os().count() > 6);
    let fixture = Fixture::with(|options| {
        options.env.insert("EXTRA".into(), "1".into());
    });

    let output = fixture
        .ok(
            "Bash",
            json!({"command": "env | sort | cut -d= -f1 | tr '\\n' ' '"}),
        )
        .await;

    assert_eq!(
        output,
        "AUTONOE_TOOL_CALL EXTRA GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 HOME LANG PATH \
         PWD SHLVL TERM _ \n"
    );
}
