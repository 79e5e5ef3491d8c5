//! Defects of the project, its specification and its state folder: missing, inaccessible, or
//! something else.

use std::fs;

use crate::bad_input::attempt::Attempt::{
    CheckWritable, Config, Find, Load, Lock, OpenJournal, ReadJournal, Run, Save, Specification,
};
use crate::bad_input::case::Case;
use crate::bad_input::other_process::Limits;

pub(crate) fn cases() -> Vec<Case> {
    [project(), specification(), state_folder()]
        .into_iter()
        .flatten()
        .collect()
}

fn project() -> Vec<Case> {
    vec![
        Case::new("the project is missing", [Find], |folder| {
            fs::rename(folder.project_dir(), folder.outer().join("elsewhere")).expect("ours");
        }),
        Case::new("the project is a file", [Find], |folder| {
            fs::rename(folder.project_dir(), folder.outer().join("elsewhere")).expect("ours");
            fs::write(folder.project_dir(), "x").expect("writable");
        }),
        Case::new("the project cannot be read", [Find], |_| {})
            .forbidding(|folder| folder.allow("", 0o000)),
        Case::new(
            "the project is read-only",
            [Lock, CheckWritable, Load, Run],
            |folder| {
                folder.remove(".autonoe");
            },
        )
        .forbidding(|folder| folder.allow("", 0o555)),
    ]
}

fn specification() -> Vec<Case> {
    let attempts = [Specification, Run];
    vec![
        Case::new("SPEC.md is missing", attempts, |folder| {
            folder.remove("SPEC.md");
        }),
        Case::new("SPEC.md is a folder", attempts, |folder| {
            folder.put_folder("SPEC.md");
        }),
        Case::new("SPEC.md is a pipe", attempts, |folder| {
            folder.put_pipe("SPEC.md");
        }),
        Case::new("SPEC.md is a socket", attempts, |folder| {
            folder.put_socket("SPEC.md");
        }),
        Case::new(
            "SPEC.md is a symlink to a device without an end",
            attempts,
            |folder| {
                folder.put_symlink("SPEC.md", "/dev/zero");
            },
        ),
        Case::new("SPEC.md is empty", attempts, |folder| {
            folder.write("SPEC.md", b"");
        }),
        Case::new("SPEC.md is blank", attempts, |folder| {
            folder.write("SPEC.md", "\u{feff} \r\n\t\u{a0}\u{200b}\n".as_bytes());
        }),
        Case::new("SPEC.md is not UTF-8", attempts, |folder| {
            folder.write("SPEC.md", b"# Shop\n\nCaf\xe9\n");
        }),
        Case::new("SPEC.md is huge", attempts, |folder| {
            folder.make_huge("SPEC.md", 64 << 30);
        })
        .within(Limits::Memory(4 << 20)),
        Case::new(
            "SPEC.md is a symlink that leads nowhere",
            attempts,
            |folder| {
                folder.put_symlink("SPEC.md", "gone");
            },
        ),
        Case::new("SPEC.md cannot be read", attempts, |_| {})
            .forbidding(|folder| folder.allow("SPEC.md", 0o000)),
    ]
}

fn state_folder() -> Vec<Case> {
    let attempts = [Lock, CheckWritable, OpenJournal, Load, Save, Run];
    let all = [
        Lock,
        CheckWritable,
        Config,
        ReadJournal,
        OpenJournal,
        Load,
        Save,
        Run,
    ];
    vec![
        Case::new(".autonoe is a symlink to a folder", attempts, |folder| {
            fs::rename(folder.path(".autonoe"), folder.path("elsewhere")).expect("ours");
            folder.put_symlink(".autonoe", "elsewhere");
        }),
        Case::new(
            ".autonoe is a symlink that leads nowhere",
            attempts,
            |folder| {
                folder.put_symlink(".autonoe", "gone");
            },
        ),
        Case::new(".autonoe is a file", all, |folder| {
            folder.remove(".autonoe");
            folder.write(".autonoe", b"x");
        }),
        Case::new(".autonoe cannot be read", all, |_| {})
            .forbidding(|folder| folder.allow(".autonoe", 0o000)),
        Case::new(".autonoe is read-only", attempts, |folder| {
            folder.remove(".autonoe/run.lock");
            folder.remove(".autonoe/status.lock");
        })
        .forbidding(|folder| folder.allow(".autonoe", 0o555)),
        Case::new(".autonoe and all in it is read-only", attempts, |_| {}).forbidding(|folder| {
            for entry in fs::read_dir(folder.path(".autonoe")).expect("readable") {
                let name = entry.expect("readable").file_name();
                let name = name.to_str().expect("text");
                folder.allow(&format!(".autonoe/{name}"), 0o444);
            }
            folder.allow(".autonoe", 0o555);
        }),
        Case::new(
            ".autonoe is read-only, but not the files in it",
            attempts,
            |_| {},
        )
        .but_may_change(".autonoe/journal.jsonl")
        .forbidding(|folder| folder.allow(".autonoe", 0o555)),
    ]
}
