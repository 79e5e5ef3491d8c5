//! Memory file `AGENTS.md` of a project.

use std::fs;
use std::os::unix::fs::symlink;

use autonoe_codex::{CodexBackend, CodexHome};
use autonoe_core::{AgentClientFactory, SessionSpec, StreamEvent};
use autonoe_testkit::model_server::{ModelScript, Turn};

use crate::fixture::{Fixture, collect_events};

const MEMORY: &str = "Indent with tabs, always.";

/// Plays a session of one turn, and returns the requests that the model received and the events.
async fn received(
    fixture: &Fixture,
    change: impl FnOnce(&mut SessionSpec),
) -> (String, Vec<StreamEvent>) {
    let mut spec = fixture.spec([]);
    change(&mut spec);
    let mut client = fixture.client(spec);
    let (events, error) = collect_events(client.as_mut(), "Say hello.").await;
    client.dispose().await.expect("it ends");
    assert!(error.is_none(), "{error:?} {events:?}");
    fixture.assert_nothing_is_left();
    let requests = fixture.server.log().main_requests();
    let requests = requests.iter().map(|request| request.raw.to_string());
    (requests.collect(), events)
}

fn hello() -> Fixture {
    Fixture::new(ModelScript::new([Turn::text("Hello.")]))
}

fn warnings(events: &[StreamEvent]) -> Vec<&str> {
    let warnings = events.iter().filter_map(|event| match event {
        StreamEvent::Warning { message, .. } => Some(message.as_str()),
        _ => None,
    });
    warnings.filter(|text| text.contains("AGENTS.md")).collect()
}

#[tokio::test]
async fn the_model_receives_the_file_once_beside_the_system_prompt() {
    for is_sandboxed in [false, true] {
        let fixture = if is_sandboxed {
            hello().sandboxed()
        } else {
            hello()
        };
        fs::write(fixture.file("AGENTS.md"), MEMORY).expect("writable");

        let (text, events) = received(&fixture, |spec| {
            spec.system_prompt = Some("You are careful.".to_owned());
        })
        .await;

        assert_eq!(text.matches(MEMORY).count(), 1, "{text}");
        assert!(text.contains("You are careful."), "{text}");
        assert_eq!(warnings(&events), Vec::<&str>::new());
    }
}

/// The program reads the file on its own in a trusted project.
#[tokio::test]
async fn without_project_memory_the_model_does_not_receive_the_file() {
    for is_repository in [false, true] {
        let fixture = hello();
        fs::write(fixture.file("AGENTS.md"), MEMORY).expect("writable");
        fs::write(fixture.file("AGENTS.override.md"), MEMORY).expect("writable");
        if is_repository {
            fs::create_dir(fixture.file(".git")).expect("writable");
            fs::write(fixture.file(".git/HEAD"), "ref: refs/heads/main\n").expect("writable");
        }

        let (text, _) = received(&fixture, |spec| spec.project_memory = false).await;

        assert!(!text.is_empty() && !text.contains(MEMORY), "{text}");
    }
}

/// Settings can add instructions and memory files, and start servers.
#[tokio::test]
async fn settings_of_a_project_with_memory_do_not_apply() {
    let fixture = hello();
    let trace = fixture.file("trace.txt");
    let config = format!(
        "developer_instructions = \"From settings.\"\n\
         project_doc_max_bytes = 65536\n\
         project_doc_fallback_filenames = [\"OTHER.md\"]\n\
         [mcp_servers.evil]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"echo 1 > {}\"]\n",
        trace.display()
    );
    fs::create_dir(fixture.file(".codex")).expect("writable");
    for (name, text) in [
        (".codex/config.toml", config.as_str()),
        ("AGENTS.md", MEMORY),
        ("OTHER.md", "From another file."),
    ] {
        fs::write(fixture.file(name), text).expect("writable");
    }

    let (text, _) = received(&fixture, |_| {}).await;

    assert!(text.contains(MEMORY), "{text}");
    for other in ["From settings.", "From another file."] {
        assert!(!text.contains(other), "{text}");
    }
    assert!(!trace.exists());
}

#[tokio::test]
async fn a_resumed_conversation_has_the_file_once() {
    let fixture = Fixture::new(ModelScript::new([
        Turn::text("Hello."),
        Turn::text("Hello again."),
    ]));
    fs::write(fixture.file("AGENTS.md"), MEMORY).expect("writable");
    let mut options = fixture.options();
    options.home = CodexHome::Persistent(fixture.folder.join("kept"));
    let agents = CodexBackend::new(options);
    let mut resume = None;

    for prompt in ["Say hello.", "Say it again."] {
        let mut spec = fixture.spec([]);
        spec.resume = resume.take();
        let mut client = agents.create(spec).expect("it can be made");
        let (events, error) = collect_events(client.as_mut(), prompt).await;
        client.dispose().await.expect("it ends");
        assert!(error.is_none(), "{error:?} {events:?}");
        resume = events.into_iter().find_map(|event| match event {
            StreamEvent::Started { session, .. } => Some(session),
            _ => None,
        });
    }

    for request in fixture.server.log().main_requests() {
        let text = request.raw.to_string();
        assert_eq!(text.matches(MEMORY).count(), 1, "{text}");
    }
    fixture.server.verify();
}

#[tokio::test]
async fn a_file_that_is_cut_or_skipped_is_a_warning() {
    let fixture = hello();
    let outside = fixture.folder.join("outside.md");
    fs::write(&outside, "From outside.").expect("writable");
    symlink(&outside, fixture.file("AGENTS.md")).expect("writable");

    let (text, events) = received(&fixture, |_| {}).await;

    assert!(!text.contains("From outside."), "{text}");
    assert_eq!(warnings(&events).len(), 1, "{events:?}");

    let fixture = hello();
    let large = format!("{MEMORY}\n{}", "Write tests.\n".repeat(10_000));
    fs::write(fixture.file("AGENTS.md"), large).expect("writable");

    let (text, events) = received(&fixture, |_| {}).await;

    assert!(text.contains(MEMORY), "{text}");
    assert!(
        text.contains("AGENTS.md is cut here, after 64 KiB."),
        "{text}"
    );
    assert_eq!(warnings(&events).len(), 1, "{events:?}");
}
