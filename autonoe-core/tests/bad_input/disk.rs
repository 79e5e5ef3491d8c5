//! Defects of a full disk.

use crate::bad_input::attempt::Attempt::{
    AppendToJournal, CheckWritable, Lock, OpenJournal, Run, Save,
};
use crate::bad_input::case::Case;
use crate::bad_input::other_process::Limits;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("there is no room for the ledger", [Save, Run], |_| {})
            .with_deliverables(20)
            .within(Limits::DiskBlocks(1)),
        Case::new(
            "there is no room for a line of the journal",
            [AppendToJournal],
            |_| {},
        )
        .within(Limits::DiskBlocks(1)),
        Case::new(
            "there is room for a part of a line of the journal",
            [AppendToJournal],
            |folder| {
                let text = folder.read(".autonoe/journal.jsonl");
                let first = text.lines().next().expect("a line");
                let line = format!("{first}\n");
                let lines = line.repeat(1000 / line.len());
                folder.write(".autonoe/journal.jsonl", lines.as_bytes());
            },
        )
        .within(Limits::DiskBlocks(1)),
        Case::new(
            "there is no room for anything",
            [Lock, CheckWritable, OpenJournal, Save, Run],
            |_| {},
        )
        .within(Limits::DiskBlocks(0)),
    ]
}
