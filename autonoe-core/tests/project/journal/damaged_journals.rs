//! Incomplete and damaged journals.

use std::fs;

use autonoe_core::project::{FileJournal, Journal, JournalReadError};
use autonoe_testkit::TempProject;

use super::whole_run;

#[tokio::test(start_paused = true)]
async fn a_torn_last_line_is_left_out_and_cut_off() {
    let project = TempProject::new();
    whole_run(&project).await;
    let whole = project.journal_text();
    for torn in ["{\"v\":1,\"run\":\"x", "{", "{\"v", "\0\0\0"] {
        fs::write(project.project().journal_path(), format!("{whole}{torn}")).expect("writable");

        assert_eq!(project.journal().entries().len(), whole.lines().count());
        drop(FileJournal::open(project.project()).expect("writable"));

        assert_eq!(project.journal_text(), whole, "{torn}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_with_a_foreign_end_is_an_error_and_stays_unchanged() {
    let project = TempProject::new();
    whole_run(&project).await;
    let whole = project.journal_text();
    for text in [
        format!("{whole}notes of a person"),
        "no line end at all".to_owned(),
    ] {
        fs::write(project.project().journal_path(), &text).expect("writable");

        let read = Journal::read(&project.project().journal_path());
        let opened = FileJournal::open(project.project());

        assert!(
            matches!(read, Err(JournalReadError::Corrupt { .. })),
            "{read:?}"
        );
        assert!(opened.is_err(), "{text:?} was opened");
        assert_eq!(project.journal_text(), text);
    }
}

#[test]
fn a_line_that_cannot_be_understood_is_an_error_with_its_number_and_stays() {
    for (text, kind) in [
        ("hello\n", "corrupt"),
        ("{}\n", "corrupt"),
        ("\n", "corrupt"),
        (
            "{\"v\":1,\"run\":\"x\",\"at\":\"2026-01-01T00:00:00Z\",\"line\":\"no_such\"}\n",
            "corrupt",
        ),
        ("{\"v\":99}\n", "version"),
    ] {
        let project = TempProject::new().file(".autonoe/journal.jsonl", text);

        let error = Journal::read(&project.project().journal_path()).expect_err("not a journal");

        let found = match &error {
            JournalReadError::Corrupt { number: 1, .. } => "corrupt",
            JournalReadError::UnknownVersion { version: 99, .. } => "version",
            _ => "other",
        };
        assert_eq!(found, kind, "{text:?}: {error}");
        assert!(error.to_string().contains("line 1"), "{error}");
        assert_eq!(project.journal_text(), text);
    }
}
