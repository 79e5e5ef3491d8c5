//! Files that are truncated at each of their bytes.

use std::path::Path;

use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::RepositoryErrorKind;
use autonoe_core::project::{AgentConfig, FileDeliverableRepository, Journal};

use crate::bad_input::folder::{Folder, runtime};

#[test]
fn a_ledger_that_was_cut_off_anywhere_is_corrupt_and_never_a_smaller_one() {
    let folder = Folder::new(3);
    let file = ".autonoe/status.json";
    let text = folder.read(file);
    let repository = FileDeliverableRepository::from_path(folder.path(file));

    // Without its last line end it is complete.
    for length in 0..text.len() - 1 {
        folder.write(file, &text.as_bytes()[..length]);

        let loaded = runtime().block_on(repository.load());

        let error = loaded.expect_err("it was cut off");
        assert_eq!(error.kind(), RepositoryErrorKind::Corrupt, "{length}");
    }
}

#[test]
fn a_configuration_that_was_cut_off_anywhere_is_an_error_and_never_a_weaker_one() {
    let text = r#"{
  "profile": ["node"],
  "permissions": {"allow": ["WebFetch(domain:docs.rs)"]},
  "hooks": [{"type": "core-deny-tool", "rule": "Task", "reason": "no"}]
}"#;
    let path = Path::new("agent.json");
    assert!(AgentConfig::parse(text, path).is_ok());

    for length in 0..text.len() {
        let parsed = AgentConfig::parse(&text[..length], path);

        assert!(parsed.is_err(), "{length}");
    }
}

#[test]
fn a_journal_that_was_cut_off_anywhere_keeps_its_whole_lines() {
    let folder = Folder::new(3);
    let file = ".autonoe/journal.jsonl";
    let text = folder.read(file);
    let whole = Journal::read(&folder.path(file)).expect("whole");

    for length in 0..=text.len() {
        let left = &text[..length];
        folder.write(file, left.as_bytes());

        let journal = Journal::read(&folder.path(file)).expect("only its end is missing");

        let lines = left.matches('\n').count();
        assert_eq!(journal.entries(), &whole.entries()[..lines], "{length}");
    }
}
