//! Journals that grow while they are read.

use std::fs::{self, OpenOptions};
use std::io::Write;

use autonoe_core::project::{Journal, JournalEntry, JournalReadError, JournalTail};
use autonoe_testkit::TempProject;

use super::whole_run;

/// Returns the lines of a whole run, and a project without any.
async fn lines_and_project() -> (Vec<String>, TempProject) {
    let other_project = TempProject::new();
    whole_run(&other_project).await;
    let text = other_project.journal_text();
    let lines = text.lines().map(|line| format!("{line}\n")).collect();
    let project = TempProject::new();
    project.project().ensure_state_dir().expect("writable");
    (lines, project)
}

fn append(project: &TempProject, text: &str) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(project.project().journal_path())
        .expect("writable");
    file.write_all(text.as_bytes()).expect("writable");
}

fn parsed(lines: &[String]) -> Vec<JournalEntry> {
    let parse = |line: &String| serde_json::from_str(line).expect("a line");
    lines.iter().map(parse).collect()
}

#[tokio::test(start_paused = true)]
async fn each_line_is_returned_once_however_it_is_written() {
    let (lines, project) = lines_and_project().await;
    let text = lines.concat();
    let mut tail = JournalTail::new(project.project().journal_path());
    assert_eq!(tail.read_new().expect("there is none yet"), []);

    let mut entries = Vec::new();
    for part in text.as_bytes().chunks(97) {
        append(&project, std::str::from_utf8(part).expect("ASCII"));
        entries.extend(tail.read_new().expect("readable"));
    }

    assert_eq!(entries, parsed(&lines));
}

#[tokio::test(start_paused = true)]
async fn a_torn_line_that_is_cut_off_and_written_over_is_never_seen() {
    let (lines, project) = lines_and_project().await;
    let path = project.project().journal_path();
    let mut tail = JournalTail::new(&path);
    append(&project, &lines[0]);
    append(&project, "{\"v\":1,\"run\":\"torn");

    let before = tail.read_new().expect("readable");
    let file = OpenOptions::new().write(true).open(&path).expect("there");
    file.set_len(lines[0].len() as u64).expect("writable");
    append(&project, &lines[1]);
    let after = tail.read_new().expect("readable");

    assert_eq!([before, after].concat(), parsed(&lines[..2]));
}

#[tokio::test(start_paused = true)]
async fn a_rotated_file_is_read_to_its_end_and_the_next_from_its_start() {
    let (lines, project) = lines_and_project().await;
    let path = project.project().journal_path();
    let mut tail = JournalTail::new(&path);
    append(&project, &lines[0]);
    assert_eq!(tail.read_new().expect("readable").len(), 1);

    append(&project, &lines[1]);
    fs::rename(&path, path.with_extension("1.jsonl")).expect("movable");
    let from_rotated = tail.read_new().expect("readable");
    append(&project, &lines[2]);
    let next = tail.read_new().expect("readable");

    assert_eq!([from_rotated, next].concat(), parsed(&lines[1..3]));
    let all = Journal::read_all(project.project()).expect("readable");
    assert_eq!(all.entries(), parsed(&lines[..3]));
}

#[tokio::test(start_paused = true)]
async fn a_line_that_cannot_be_understood_is_an_error_with_its_number() {
    let (lines, project) = lines_and_project().await;
    let mut tail = JournalTail::new(project.project().journal_path());
    append(&project, &lines[0]);
    tail.read_new().expect("readable");
    append(&project, "hello\n");

    for _attempt in 0..2 {
        let error = tail.read_new().expect_err("not a line");

        assert!(
            matches!(error, JournalReadError::Corrupt { number: 2, .. }),
            "{error}"
        );
    }
}

#[test]
fn journal_path_to_a_folder_is_an_error() {
    let project = TempProject::new();
    fs::create_dir_all(project.project().journal_path()).expect("writable");

    let error = JournalTail::new(project.project().journal_path()).read_new();

    assert!(
        matches!(error, Err(JournalReadError::NotAFile { .. })),
        "{error:?}"
    );
}
