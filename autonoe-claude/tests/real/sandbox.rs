//! Reach of an allowed command, with and without the sandbox.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use autonoe_core::StreamEvent;
use autonoe_core::agent::Sandbox;
use autonoe_process::SessionParent;
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::fixture::{Fixture, collect_events};

/// Runs commands that write and connect, and asserts that they reached what `expected` names.
async fn assert_reached(build: Build, sandbox: Sandbox, expected: &Reached) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it can be");
    let port = listener.local_addr().expect("it has one").port();
    let commands = [
        "echo 1 > inside".to_owned(),
        "echo 1 > ../outside".to_owned(),
        "echo 1 > $HOME/in-home".to_owned(),
        format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo 1 > connected"),
        // Through the proxy of the sandbox for allowed hosts.
        format!(
            r#"[ -n "$HTTP_PROXY" ] || exit 0
            whom=${{HTTP_PROXY#*//}} port=${{HTTP_PROXY##*:}}
            word=$(printf %s "${{whom%@*}}" | base64 -w 0)
            # It may not listen yet.
            for i in $(seq 300); do
                {{ exec 3<>/dev/tcp/127.0.0.1/${{port%/}}; }} 2>/dev/null && break; sleep 0.1
            done
            printf '%s\r\n' "GET http://127.0.0.1:{port}/ HTTP/1.1" "Host: 127.0.0.1:{port}" \
                "Proxy-Authorization: Basic $word" "Connection: close" "" >&3
            timeout 30 head -n 1 <&3"#
        ),
    ];
    let call = |(command, leaves): (&String, bool)| {
        let mut input = json!({"command": command, "description": "as the script says"});
        if leaves {
            input["dangerouslyDisableSandbox"] = json!(true);
        }
        Turn::tool("Bash", input)
    };
    let stays = commands.iter().map(|command| (command, false));
    let calls = stays.chain(commands.iter().map(|command| (command, true)));
    let turns = calls.map(call).chain([Turn::text("Done.")]);
    let fixture = Fixture::new(build, ModelScript::new(turns));
    let mut spec = fixture.spec([]);
    spec.sandbox = sandbox;
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Try it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let is_refused = |event: &&StreamEvent| {
        matches!(event, StreamEvent::ToolResponse { output, .. }
            if output.starts_with("HTTP/1.1 403"))
    };
    fixture.server.verify();
    fixture.assert_nothing_is_left();
    let is_there = |name: &str| fixture.folder.join(name).exists();
    let reached = Reached {
        project: fixture.files(),
        refused_by_proxy: events.iter().filter(is_refused).count(),
        outside: is_there("outside"),
        home: is_there("home/in-home"),
        network: match listener.accept() {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        },
    };
    assert_eq!(reached, *expected, "{events:#?}");
}

#[derive(Debug, PartialEq, Eq)]
struct Reached {
    project: Vec<String>,
    refused_by_proxy: usize,
    outside: bool,
    home: bool,
    network: bool,
}

// Shows: spec/6.1/layer-1-sandbox
async fn a_command_cannot_leave_the_sandbox_even_if_the_model_requests_it(build: Build) {
    let inside = Reached {
        project: vec!["inside".into()],
        refused_by_proxy: 2,
        outside: false,
        home: false,
        network: false,
    };
    assert_reached(build, Sandbox::Required, &inside).await;
}

async fn the_same_commands_get_everywhere_without_the_sandbox(build: Build) {
    let everywhere = Reached {
        project: vec!["connected".into(), "inside".into()],
        refused_by_proxy: 0,
        outside: true,
        home: true,
        network: true,
    };
    assert_reached(build, Sandbox::Off, &everywhere).await;
}

/// Tries to change the folder `OTHER` of another session, its parent, and the own folder of this
/// session, and prints the successful changes.
///
/// It does not touch other session folders, which may be in use on this machine.
const ATTACK: &str = r#"
done=
try() { "$@" 2>/dev/null && done="$done; $*"; }
for session in "$OTHER" "$OWN"/.autonoe/autonoe-claude-*; do
    [ -d "$session" ] || done="$done; $session is not there"
    ln -s "$session" "$TMPDIR/link"
    try touch "$session/new"
    try touch "$TMPDIR/link/new"
    try cp /etc/hostname "$session/bash-setup.sh"
    try mv "$session" "$session.old"
    try mv "$session" "$TMPDIR/moved"
    try touch "$session/../evil"
    try mkdir "$session/../../evil"
    try rm -r "$session"
    rm "$TMPDIR/link"
done
try mv "$OWN" "$OWN.old"
try mv "$OWN/.autonoe" "$OWN/old"
echo "done:$done"
"#;

/// The guards are off in this test, so only the sandbox protects the folders.
async fn tmp_is_writable_in_the_sandbox_and_the_folders_of_sessions_are_not(build: Build) {
    let shared = SessionParent::open(Path::new("/tmp")).expect("it can be made");
    // The folder of another session, which is not in use.
    let other = tempfile::tempdir_in(shared.sessions()).expect("writable");
    let original = other.path().join("bash-setup.sh");
    std::fs::write(&original, "original").expect("writable");
    let file = tempfile::Builder::new()
        .prefix("autonoe-test-")
        .tempfile_in("/tmp");
    let file = file.expect("writable");
    let fixture = Fixture::outside_tmp(build, |project| {
        let own = SessionParent::in_directory(&project.with_file_name("tmp"));
        let (own, other) = (own.path().display(), other.path().display());
        let commands = [
            format!("echo written > {0} && cat {0}", file.path().display()),
            "echo temporary > $TMPDIR/x && cat $TMPDIR/x".to_owned(),
            format!("OWN={own} OTHER={other}\n{ATTACK}"),
        ];
        let call = |command| {
            let input = json!({"command": command, "description": "as the script says"});
            Turn::tool("Bash", input)
        };
        ModelScript::new(commands.map(call).into_iter().chain([Turn::text("Done.")]))
    });
    let mut spec = fixture.spec([]);
    spec.sandbox = Sandbox::Required;
    let mut client = fixture.client(spec);

    let (events, error) = collect_events(client.as_mut(), "Try it.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let outputs = events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { output, .. } => Some(output.trim()),
        _ => None,
    });
    assert_eq!(Vec::from_iter(outputs), ["written", "temporary", "done:"]);
    let script = std::fs::read_to_string(&original).expect("it is there");
    assert_eq!(script, "original");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

on_both_builds![
    tmp_is_writable_in_the_sandbox_and_the_folders_of_sessions_are_not,
    a_command_cannot_leave_the_sandbox_even_if_the_model_requests_it;
    newer_only:
    the_same_commands_get_everywhere_without_the_sandbox,
];
