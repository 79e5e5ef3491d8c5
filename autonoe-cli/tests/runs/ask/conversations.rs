//! Conversations that a later command continues.

use serde_json::{Value, json};

use super::{Resume, ask_command, cost_line, events, run_ask};
use crate::runs::support::autonoe::{CommandOutput, autonoe};
use crate::runs::support::project::Project;
use crate::runs::support::script::{ends, text_step};

const RECORD: &str = ".autonoe/conversations/ask.json";

fn answer() -> [Value; 2] {
    [text_step("A typo."), ends()]
}

/// Returns the conversation that the session resumed, if any.
fn resumed(ended: &CommandOutput) -> Option<String> {
    let events = events(ended);
    let resumed = events
        .iter()
        .find(|it| it["event"] == "conversation_resumed")?;
    Some(resumed["conversation"].as_str().expect("text").to_owned())
}

#[test]
fn continue_resumes_the_last_conversation() {
    let project = Project::new();
    let first = run_ask(&project, &answer(), &["--output=json", "why?"]);
    assert_eq!(resumed(&first), None, "{first:?}");
    let record: Value = serde_json::from_str(&project.read(RECORD)).expect("JSON");

    let second = run_ask(&project, &answer(), &["-c", "--output=json", "where?"]);

    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(record["backend"], "scripted");
    let conversation = record["conversation"].as_str().expect("text");
    assert_eq!(resumed(&second).as_deref(), Some(conversation));
}

#[test]
fn a_new_question_starts_a_new_conversation_and_deletes_the_last_one() {
    let project = Project::new();
    run_ask(&project, &answer(), &["why?"]);
    project.write(".autonoe/conversations/ask/old.json", "{}");
    project.write(".autonoe/conversations/flow/kept.json", "{}");

    let second = run_ask(&project, &answer(), &["--output=json", "why?"]);

    assert_eq!(resumed(&second), None, "{second:?}");
    assert!(!project.path(".autonoe/conversations/ask/old.json").exists());
    assert!(
        project
            .path(".autonoe/conversations/flow/kept.json")
            .exists()
    );
    assert!(project.path(RECORD).exists());
}

#[test]
fn a_session_without_activity_leaves_the_last_conversation_as_it_was() {
    let project = Project::new();
    run_ask(&project, &answer(), &["why?"]);
    let before = project.read(RECORD);

    let silent = run_ask(&project, &[ends()], &["--continue", "where?"]);

    assert_eq!(silent.code, Some(1), "{silent:?}");
    assert_eq!(project.read(RECORD), before);
}

#[test]
fn costs_add_up_over_a_conversation() {
    let project = Project::new();

    let costs = [&["why?"][..], &["--continue", "where?"], &["-c", "when?"]]
        .map(|arguments| cost_line(&run_ask(&project, &answer(), arguments)));

    assert_eq!(
        costs,
        [
            "$0.25, 0 tools",
            "$0.25, 0 tools, $0.50 in total",
            "$0.25, 0 tools, $0.75 in total",
        ]
    );
}

#[test]
fn continue_without_a_conversation_is_an_error() {
    let project = Project::new();

    let ended = run_ask(&project, &answer(), &["--continue", "where?"]);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stdout, "");
    for words in [
        "error: there is no conversation to continue in this project",
        "hint: omit --continue to start one",
    ] {
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
}

#[test]
fn a_conversation_of_another_backend_is_refused() {
    let project = Project::new();
    run_ask(&project, &answer(), &["why?"]);

    for arguments in [
        &["ask", "--continue", "where?"][..],
        &["ask", "--continue", "--backend=codex", "where?"],
    ] {
        let ended = CommandOutput::run(autonoe(&project, arguments));

        assert_eq!(ended.code, Some(1), "{ended:?}");
        for words in [
            "the last conversation is with the backend scripted, not ",
            "use --backend scripted:FILE",
        ] {
            assert!(ended.stderr.contains(words), "{words}: {ended:?}");
        }
    }
}

#[test]
fn a_backend_that_cannot_resume_fails_before_anything_is_sent() {
    let project = Project::new();
    let steps: &[Value] = &[
        json!({"writes": {"path": "sent.txt", "text": "sent"}}),
        text_step("A typo."),
        ends(),
    ];
    run_ask(&project, &answer(), &["why?"]);
    let before = project.read(RECORD);

    let command = ask_command(&project, [steps], Resume::Impossible, &["-c", "where?"]);
    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended
            .stderr
            .contains("cannot resume an earlier conversation"),
        "{ended:?}"
    );
    assert!(
        ended.stderr.contains("start a new conversation"),
        "{ended:?}"
    );
    assert!(!project.path("sent.txt").exists());
    assert_eq!(project.read(RECORD), before);
}

#[test]
fn a_record_that_is_not_understood_is_an_error_with_its_path() {
    let project = Project::new();
    project.write(RECORD, "{\"version\": 2}");

    let ended = run_ask(&project, &answer(), &["-c", "where?"]);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("conversations/ask.json"), "{ended:?}");
    assert_eq!(project.read(RECORD), "{\"version\": 2}");
}
