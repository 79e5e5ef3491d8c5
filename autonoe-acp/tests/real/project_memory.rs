//! Memory file `GEMINI.md` of a project.

use std::fs;

use autonoe_acp::{AcpBackend, HomeFolder};
use autonoe_core::agent::{AgentErrorKind, OuterSandbox, Sandbox};
use autonoe_core::{AgentClientFactory, AgentError, SessionSpec};
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::json;

use crate::fixture::{Fixture, collect_events, within};

const MEMORY: &str = "Indent with tabs, always.";

/// Plays a session of one turn in the sandbox, and returns the requests that the model received.
async fn received(
    fixture: &Fixture,
    change: impl FnOnce(&mut SessionSpec),
) -> (String, Option<AgentError>) {
    let mut spec = fixture.spec();
    spec.sandbox = Sandbox::Required;
    spec.outer_sandbox = Some(OuterSandbox::bubblewrap());
    change(&mut spec);
    let mut client = fixture.client(spec);
    let (_, error) = collect_events(client.as_mut(), "Say hello.").await;
    within(client.dispose()).await.expect("it ends");
    fixture.assert_nothing_is_left();
    let requests = fixture.server.log().main_requests();
    let requests = requests.iter().map(|request| request.raw.to_string());
    (requests.collect(), error)
}

/// Settings can start servers and hooks, and name further memory files.
#[tokio::test]
async fn the_model_receives_the_file_but_no_settings_of_the_project_apply() {
    let fixture = Fixture::new(ModelScript::new([Turn::text("Hello.")]));
    let touch = |name: &str| format!("touch {}", fixture.file(name).display());
    let hooks = [("SessionStart", "*"), ("BeforeAgent", "*")].map(|(event, matcher)| {
        let hook = json!({"type": "command", "command": touch("by-hook")});
        (
            event.to_owned(),
            json!([{"matcher": matcher, "hooks": [hook]}]),
        )
    });
    let server = json!({"command": "touch", "args": [fixture.file("by-server")], "trust": true});
    let settings = json!({
        "context": {"fileName": "OTHER.md"},
        "hooks": serde_json::Map::from_iter(hooks),
        "mcpServers": {"evil": server},
    });
    fs::create_dir(fixture.file(".gemini")).expect("writable");
    fs::write(fixture.file(".gemini/settings.json"), settings.to_string()).expect("writable");
    fs::write(fixture.file("GEMINI.md"), MEMORY).expect("writable");
    fs::write(fixture.file("OTHER.md"), "From another file.").expect("writable");

    let (text, error) = received(&fixture, |_| {}).await;

    assert!(error.is_none(), "{error:?}");
    assert!(text.contains(MEMORY), "{text}");
    assert!(!text.contains("From another file."), "{text}");
    assert_eq!(fixture.names(), [".gemini", "GEMINI.md", "OTHER.md"]);
}

/// This is why a session without memory is refused. If a later version reads only the files that
/// the setting names, the setting can turn the file off.
#[tokio::test]
async fn the_program_reads_its_own_file_beside_those_that_settings_name() {
    let fixture = Fixture::new(ModelScript::new([Turn::text("Hello.")]));
    let home = fixture.folder.join("home");
    let settings = json!({"context": {"fileName": "OTHER.md"}}).to_string();
    fs::create_dir_all(home.join(".gemini")).expect("writable");
    fs::write(home.join(".gemini/settings.json"), settings).expect("writable");
    fs::write(fixture.file("GEMINI.md"), MEMORY).expect("writable");
    fs::write(fixture.file("OTHER.md"), "From another file.").expect("writable");
    let mut options = fixture.options();
    options.home = HomeFolder::Persistent(home);
    let agents = AcpBackend::new(options);
    let mut client = agents.create(fixture.spec()).expect("it can be made");

    let (_, error) = collect_events(client.as_mut(), "Say hello.").await;
    within(client.dispose()).await.expect("it ends");

    assert!(error.is_none(), "{error:?}");
    let text = fixture.server.log().main_requests()[0].raw.to_string();
    for expected in [MEMORY, "From another file."] {
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_session_without_memory_is_refused_where_the_program_would_read_the_file() {
    for name in ["GEMINI.md", "parts/GEMINI.md"] {
        let fixture = Fixture::new(ModelScript::new::<Turn>([]));
        let file = fixture.file(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("writable");
        fs::write(&file, MEMORY).expect("writable");

        let (text, error) = received(&fixture, |spec| spec.project_memory = false).await;

        assert_eq!(text, "");
        let error = error.expect("it is refused");
        assert_eq!(error.kind(), AgentErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[tokio::test]
async fn a_session_without_memory_starts_where_there_is_no_file() {
    let fixture = Fixture::new(ModelScript::new([Turn::text("Hello.")]));
    fs::write(fixture.file("AGENTS.md"), MEMORY).expect("writable");

    let (text, error) = received(&fixture, |spec| spec.project_memory = false).await;

    assert!(error.is_none(), "{error:?}");
    assert!(!text.is_empty() && !text.contains(MEMORY), "{text}");
}
