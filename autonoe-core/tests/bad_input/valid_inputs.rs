//! Inputs that look like defects and are valid.

use std::fs;

use autonoe_core::event::InstructionName;
use autonoe_core::project::{JournalTail, ProjectInstructions};
use serde_json::{Value, json};

use crate::bad_input::attempt::Attempt;
use crate::bad_input::folder::Folder;

#[test]
fn unknown_fields_of_the_ledger_are_kept() {
    let folder = Folder::new(3);
    let file = ".autonoe/status.json";
    let mut ledger: Value = serde_json::from_str(&folder.read(file)).expect("JSON");
    ledger["projectName"] = json!({"known": "to somebody else"});
    ledger["deliverables"][1]["owner"] = json!("web");
    folder.write(file, ledger.to_string().as_bytes());

    for attempt in [Attempt::Load, Attempt::Save] {
        assert_eq!(attempt.message_in_time(folder.project_dir()), "nothing");
    }

    let saved: Value = serde_json::from_str(&folder.read(file)).expect("JSON");
    assert_eq!(saved["projectName"], ledger["projectName"]);
    assert_eq!(saved["deliverables"][1], ledger["deliverables"][1]);
    assert_eq!(saved["deliverables"][3]["id"], "DL-NEW");
}

#[test]
fn unknown_fields_of_the_journal_are_passed_over_and_stay() {
    let folder = Folder::new(3);
    let file = ".autonoe/journal.jsonl";
    let text = folder.read(file);
    let with_more = text.replace("{\"v\":1,", "{\"v\":1,\"host\":\"a\",");
    assert_ne!(with_more, text);
    folder.write(file, with_more.as_bytes());

    let read = Attempt::ReadJournal.message_in_time(folder.project_dir());
    let exit = Attempt::Run.message_in_time(folder.project_dir());

    assert_eq!(read, "nothing");
    assert_eq!(exit, "all achievable deliverables passed");
    let after = fs::read_to_string(folder.path(file)).expect("readable");
    assert!(
        after.starts_with(&with_more),
        "what stood there has changed"
    );
}

#[test]
fn byte_order_marks_are_ignored() {
    let folder = Folder::new(3);
    folder.write(".autonoe/coding.md", b"Write the tests first.");
    let before: Value = serde_json::from_str(&folder.read(".autonoe/status.json")).expect("JSON");
    for file in ["status.json", "agent.json", "journal.jsonl", "coding.md"] {
        let file = format!(".autonoe/{file}");
        folder.write(&file, format!("\u{feff}{}", folder.read(&file)).as_bytes());
    }
    let spec = format!("\u{feff}{}", folder.read("SPEC.md"));
    folder.write("SPEC.md", spec.as_bytes());

    for attempt in [
        Attempt::Specification,
        Attempt::Config,
        Attempt::ReadJournal,
        Attempt::OpenJournal,
        Attempt::AppendToJournal,
        Attempt::Load,
        Attempt::Save,
    ] {
        assert_eq!(
            attempt.message_in_time(folder.project_dir()),
            "nothing",
            "{attempt:?}"
        );
    }

    let saved: Value = serde_json::from_str(&folder.read(".autonoe/status.json")).expect("JSON");
    for index in 0..3 {
        assert_eq!(saved["deliverables"][index], before["deliverables"][index]);
    }
    let texts = ProjectInstructions::new(folder.path(".autonoe"));
    let found = texts.find(&InstructionName::Coding).expect("a text");
    assert_eq!(found.text, "Write the tests first.");
    let mut tail = JournalTail::new(folder.path(".autonoe/journal.jsonl"));
    assert!(!tail.read_new().expect("it is understood").is_empty());
    assert_eq!(folder.read("SPEC.md"), spec, "it is not ours to change");
}

#[test]
fn a_ledger_of_many_megabytes_is_read_and_written() {
    let folder = Folder::new(1);
    let file = ".autonoe/status.json";
    let deliverables: Vec<Value> = (0..20_000)
        .map(|number| {
            json!({
                "id": format!("DL-{number}"),
                "description": "a thing that takes some words to describe".repeat(5),
                "acceptanceCriteria": ["it works"],
                "passed": true,
                "blocked": false,
            })
        })
        .collect();
    let text = json!({ "deliverables": deliverables }).to_string();
    assert!(text.len() > 5_000_000, "{}", text.len());
    folder.write(file, text.as_bytes());

    for attempt in [Attempt::Load, Attempt::Save] {
        assert_eq!(attempt.message_in_time(folder.project_dir()), "nothing");
    }
}
