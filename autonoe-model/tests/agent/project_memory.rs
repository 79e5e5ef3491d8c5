//! Tests of a project's memory file, `AGENTS.md`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use autonoe_core::{AgentClientFactory, Budget, SessionSpec, StreamEvent};

use crate::agent::fixture::{ScriptedModel, Turn, agents, echo, spec, text_reply, turn_of};

const MEMORY: &str = "Indent with tabs, always.";

/// Runs a session of two turns in `project`, and returns the first system prompt and turn.
async fn session(project: &Path, change: impl FnOnce(&mut SessionSpec)) -> (String, Turn) {
    let model = ScriptedModel::new([text_reply("Hello."), text_reply("Hello again.")]);
    let mut spec = spec(Budget::default());
    spec.cwd = project.to_owned();
    change(&mut spec);
    let agents = agents(&model, [echo()], |_| {});
    let mut client = agents.create(spec).expect("it can be made");

    let turn = turn_of(client.as_mut(), "Say hello.").await;
    let second = turn_of(client.as_mut(), "Say it again.").await;
    client.dispose().await.expect("it ends");

    assert_eq!(
        warnings(&second),
        Vec::<&str>::new(),
        "there is one warning"
    );
    let requests = model.requests();
    assert_eq!(requests[0].system, requests[1].system);
    (requests[0].system.clone().expect("a system prompt"), turn)
}

fn warnings(turn: &Turn) -> Vec<&str> {
    let warnings = turn.events.iter().filter_map(|event| match event {
        StreamEvent::Warning { message, .. } => Some(message.as_str()),
        _ => None,
    });
    warnings.collect()
}

#[tokio::test(start_paused = true)]
async fn the_file_is_appended_to_the_system_prompt() {
    let project = tempfile::tempdir().expect("a folder");
    fs::write(project.path().join("AGENTS.md"), MEMORY).expect("writable");

    let (usual, turn) = session(project.path(), |_| {}).await;
    let (own, _) = session(project.path(), |spec| {
        spec.system_prompt = Some("You are careful.".to_owned());
    })
    .await;

    assert!(usual.starts_with("You are an engineer"), "{usual}");
    assert!(own.starts_with("You are careful.\n\n"), "{own}");
    for system in [usual, own] {
        assert_eq!(system.matches(MEMORY).count(), 1, "{system}");
    }
    assert_eq!(warnings(&turn), Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn the_file_is_not_read_when_project_memory_is_off() {
    let project = tempfile::tempdir().expect("a folder");
    fs::write(project.path().join("AGENTS.md"), MEMORY).expect("writable");

    let (system, _) = session(project.path(), |spec| spec.project_memory = false).await;

    assert!(!system.contains(MEMORY), "{system}");
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_cut_or_skipped_is_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let (linked, large) = (folder.path().join("linked"), folder.path().join("large"));
    fs::write(folder.path().join("outside.md"), MEMORY).expect("writable");
    for project in [&linked, &large] {
        fs::create_dir(project).expect("writable");
    }
    symlink("../outside.md", linked.join("AGENTS.md")).expect("writable");
    fs::write(large.join("AGENTS.md"), MEMORY.repeat(10_000)).expect("writable");

    let (of_link, turn_with_link) = session(&linked, |_| {}).await;
    let (of_large, turn_with_large) = session(&large, |_| {}).await;

    assert!(!of_link.contains(MEMORY), "{of_link}");
    assert!(of_large.contains(MEMORY) && of_large.len() < 70_000);
    assert!(of_large.contains("AGENTS.md is cut here, after 64 KiB."));
    for turn in [turn_with_link, turn_with_large] {
        assert_eq!(warnings(&turn).len(), 1, "{:?}", turn.events);
    }
}
