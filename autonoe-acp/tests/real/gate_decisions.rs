//! Calls that reach the gate, and refused sessions.

use std::fs;
use std::sync::{Arc, Mutex};

use autonoe_acp::{AcpBackend, HomeFolder};
use autonoe_backend::SandboxNetwork;
use autonoe_core::agent::{AgentErrorKind, OuterSandbox, SessionField};
use autonoe_core::{AgentClientFactory, HookDecision, hook_fn};
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::json;

use crate::fixture::{Fixture, collect_events, within};

#[tokio::test]
async fn a_command_in_another_folder_is_judged_there() {
    let input = json!({"command": "touch made.txt", "dir_path": "sub", "description": "makes it"});
    let command = Turn::tool("run_shell_command", input);
    let fixture = Fixture::new(ModelScript::new([command, Turn::text("Done.")]));
    fs::create_dir(fixture.file("sub")).expect("it can be made");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let see = seen.clone();
    let mut spec = fixture.spec();
    let witness = hook_fn("witness", move |call, _| {
        see.lock().expect("nobody panics").push(call.kind.target());
        HookDecision::Pass
    });
    spec.gate = spec.gate.with_hook(witness);
    let mut client = fixture.client(spec);

    collect_events(client.as_mut(), "Make it.").await;
    within(client.dispose()).await.expect("it ends");

    assert!(fixture.file("sub/made.txt").exists());
    let judged = Some("cd 'sub' && touch made.txt".to_owned());
    assert_eq!(*seen.lock().expect("nobody panics"), [judged]);
}

#[tokio::test]
async fn unsupported_sessions_are_refused() {
    let fixture = Fixture::new(ModelScript::new::<Turn>([]));
    let server = json!({"type": "http", "url": "http://127.0.0.1:1/mcp"});
    let server = serde_json::from_value(server).expect("a server");
    let mut cut_off = fixture.options();
    cut_off.program.sandbox.network = SandboxNetwork::Off;
    let mut with_tools = fixture.spec();
    with_tools.outer_sandbox = Some(OuterSandbox::bubblewrap());
    with_tools.mcp_servers.insert("autonoe".to_owned(), server);
    let persistent = HomeFolder::Persistent(fixture.folder.join("home"));
    let mut limited = fixture.spec();
    limited.max_turns = Some(2);
    let mut without_memory = fixture.spec();
    without_memory.project_memory = false;

    let max_turns = AgentErrorKind::Unclaimed(SessionField::MaxTurns);
    let project_memory = AgentErrorKind::Unclaimed(SessionField::ProjectMemory);
    let with_home = |home: &HomeFolder| {
        let mut options = fixture.options();
        options.home = home.clone();
        options
    };
    let user = || with_home(&HomeFolder::User);
    let persistent = || with_home(&persistent);
    let fresh_home = "set `home` of the backend to \"perSession\"";
    for (options, spec, kind, remedy) in [
        (
            cut_off,
            with_tools,
            AgentErrorKind::Unsupported,
            "set `network`",
        ),
        (persistent(), limited.clone(), max_turns, fresh_home),
        (user(), limited, max_turns, fresh_home),
        (
            persistent(),
            without_memory.clone(),
            project_memory,
            fresh_home,
        ),
        (user(), without_memory, project_memory, fresh_home),
    ] {
        let error = AcpBackend::new(options)
            .create(spec)
            .expect_err("it cannot");

        assert_eq!(error.kind(), kind, "{error}");
        let found = error.remedy().unwrap_or_default();
        assert!(found.starts_with(remedy), "{found}");
    }
}
