//! Defects of the journal, `.autonoe/journal.jsonl`.

use crate::bad_input::attempt::Attempt::{self, AppendToJournal, OpenJournal, ReadJournal, Run};
use crate::bad_input::case::Case;
use crate::bad_input::folder::Folder;
use crate::bad_input::other_process::Limits;

const FILE: &str = ".autonoe/journal.jsonl";
/// The operations that read the content of the file.
const READERS: [Attempt; 2] = [ReadJournal, Run];
/// The operations that open the file.
const ATTEMPTS: [Attempt; 4] = [ReadJournal, OpenJournal, AppendToJournal, Run];

pub(crate) fn cases() -> Vec<Case> {
    let lines = LINES.iter().map(|(defect, line)| {
        Case::new(
            format!("the second line of the journal {defect}"),
            READERS,
            |folder| {
                put_second_line(folder, line.as_bytes());
            },
        )
    });
    lines.chain(others()).collect()
}

/// Replaces the second line by `line`.
fn put_second_line(folder: &Folder, line: &[u8]) {
    let text = folder.read(FILE);
    let lines = text.lines().enumerate().flat_map(|(index, own)| {
        let line = if index == 1 { line } else { own.as_bytes() };
        [line, b"\n"].concat()
    });
    folder.write(FILE, &lines.collect::<Vec<u8>>());
}

macro_rules! line_of {
    ($fields:literal) => {
        concat!(
            "{\"v\":1,\"run\":\"x\",\"at\":\"2026-01-01T00:00:00Z\",",
            $fields,
            "}"
        )
    };
}

const LINES: &[(&str, &str)] = &[
    ("is empty", ""),
    ("is blank", "  "),
    ("is corrupt", "hello"),
    ("is truncated", "{\"v\":1,\"run\":\"x\",\"at\":\"2026"),
    ("is a list", "[]"),
    ("is an empty object", "{}"),
    (
        "is of a newer version",
        "{\"v\":2,\"run\":\"x\",\"what\":\"nobody knows yet\"}",
    ),
    ("has a version of the wrong type", "{\"v\":\"1\"}"),
    (
        "has a run of the wrong type",
        "{\"v\":1,\"run\":7,\"at\":\"2026-01-01T00:00:00Z\",\"line\":\"run_resumed\",\"epoch\":1}",
    ),
    (
        "has a time that is none",
        "{\"v\":1,\"run\":\"x\",\"at\":\"noon\",\"line\":\"run_resumed\",\"epoch\":1}",
    ),
    ("is of an unknown kind", line_of!("\"line\":\"no_such\"")),
    ("has a kind of the wrong type", line_of!("\"line\":7")),
    ("lacks a field", line_of!("\"line\":\"run_resumed\"")),
    (
        "has a field of the wrong type",
        line_of!("\"line\":\"run_resumed\",\"epoch\":\"one\""),
    ),
    (
        "tells an unknown fact",
        line_of!(
            "\"line\":\"fact\",\"fact\":{\"fact\":\"no_such\"},\"action\":{\"action\":\"continue\"}"
        ),
    ),
];

fn others() -> Vec<Case> {
    vec![
        Case::new(
            "the second line of the journal is not UTF-8",
            READERS,
            |folder| {
                put_second_line(folder, b"{\"v\":1,\"run\":\"\xff\"}");
            },
        ),
        Case::new(
            "the second line of the journal is nested too deeply",
            READERS,
            |folder| {
                let (open, close) = ("[".repeat(300_000), "]".repeat(300_000));
                put_second_line(
                    folder,
                    format!("{{\"v\":1,\"run\":{open}{close}}}").as_bytes(),
                );
            },
        ),
        Case::new(
            "the journal ends with something that is no line of it",
            ATTEMPTS,
            |folder| {
                let text = folder.read(FILE);
                folder.write(FILE, format!("{text}notes of a person").as_bytes());
            },
        ),
        Case::new("the journal is huge", READERS, |folder| {
            folder.make_huge(FILE, 64 << 30);
        })
        .within(Limits::Memory(4 << 20)),
        Case::new("the journal is a folder", ATTEMPTS, |folder| {
            folder.put_folder(FILE);
        }),
        Case::new("the journal is a pipe", ATTEMPTS, |folder| {
            folder.put_pipe(FILE);
        }),
        Case::new(
            "the journal is a symlink to a file of somebody",
            ATTEMPTS,
            |folder| {
                folder.put_symlink(FILE, "../../foreign");
            },
        ),
        Case::new(
            "the journal is a symlink that leads nowhere",
            ATTEMPTS,
            |folder| {
                folder.put_symlink(FILE, "../../gone");
            },
        ),
        Case::new("the journal cannot be read", ATTEMPTS, |_| {})
            .forbidding(|folder| folder.allow(FILE, 0o000)),
        Case::new(
            "the journal is read-only",
            [OpenJournal, AppendToJournal, Run],
            |_| {},
        )
        .forbidding(|folder| folder.allow(FILE, 0o444)),
    ]
}
