//! Calls that reach the gate, and sessions that are refused.

use std::fs;
use std::sync::{Arc, Mutex};

use autonoe_acp::{AcpAgents, HomeFolder};
use autonoe_backend::SandboxNetwork;
use autonoe_core::{
    AgentClientFactory, AgentErrorKind, HookDecision, OuterSandbox, SessionField, hook_fn,
};
use autonoe_testkit::model_server::{Script, Turn};
use serde_json::json;

use crate::setting::{Setting, events_of, within};

#[tokio::test]
async fn a_command_in_another_folder_is_judged_there() {
    let input = json!({"command": "touch made.txt", "dir_path": "sub", "description": "makes it"});
    let command = Turn::tool("run_shell_command", input);
    let setting = Setting::new(Script::new([command, Turn::text("Done.")]));
    fs::create_dir(setting.file("sub")).expect("it can be made");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let see = seen.clone();
    let mut spec = setting.spec();
    let witness = hook_fn("witness", move |call, _| {
        see.lock().expect("nobody panics").push(call.kind.target());
        HookDecision::Pass
    });
    spec.gate = spec.gate.with_hook(witness);
    let mut client = setting.client(spec);

    events_of(client.as_mut(), "Make it.").await;
    within(client.dispose()).await.expect("it ends");

    assert!(setting.file("sub/made.txt").exists());
    let judged = Some("cd 'sub' && touch made.txt".to_owned());
    assert_eq!(*seen.lock().expect("nobody panics"), [judged]);
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_begun() {
    let setting = Setting::new(Script::new::<Turn>([]));
    let server = json!({"type": "http", "url": "http://127.0.0.1:1/mcp"});
    let server = serde_json::from_value(server).expect("a server");
    let mut cut_off = setting.options();
    cut_off.walls.network = SandboxNetwork::Off;
    let mut with_tools = setting.spec();
    with_tools.outer_sandbox = Some(OuterSandbox::bubblewrap());
    with_tools.mcp_servers.insert("autonoe".to_owned(), server);
    let kept = HomeFolder::Kept(setting.folder.join("home"));
    let mut limited = setting.spec();
    limited.max_turns = Some(2);
    let mut without_memory = setting.spec();
    without_memory.project_memory = false;

    let max_turns = AgentErrorKind::Unclaimed(SessionField::MaxTurns);
    let project_memory = AgentErrorKind::Unclaimed(SessionField::ProjectMemory);
    let of_the_user = || setting.options().with_home(HomeFolder::OfTheUser);
    let kept = || setting.options().with_home(kept.clone());
    let fresh_home = "set `home` of the backend to \"perSession\"";
    for (options, spec, kind, remedy) in [
        (
            cut_off,
            with_tools,
            AgentErrorKind::Unsupported,
            "set `network`",
        ),
        (kept(), limited.clone(), max_turns, fresh_home),
        (of_the_user(), limited, max_turns, fresh_home),
        (kept(), without_memory.clone(), project_memory, fresh_home),
        (of_the_user(), without_memory, project_memory, fresh_home),
    ] {
        let error = AcpAgents::new(options).create(spec).expect_err("it cannot");

        assert_eq!(error.kind(), kind, "{error}");
        let found = error.remedy().unwrap_or_default();
        assert!(found.starts_with(remedy), "{found}");
    }
}
