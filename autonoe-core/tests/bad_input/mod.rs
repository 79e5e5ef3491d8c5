//! Bad input: every defect of every kind of file leads to an error that names the file, and no file
//! is changed.
//!
//! All messages are in one file, to be reviewed together: `snapshots/bad_input__messages.snap`.
//! Messages about the values of `agent.json` are in the tests of the configuration.
#![cfg(all(feature = "project", target_os = "linux"))]

mod agent_json;
mod attempt;
mod case;
mod disk;
mod folder;
mod journal;
mod locks;
mod other_process;
mod project_layout;
mod status_json;
mod tools;
mod tree;
mod truncated;
mod valid_inputs;

use crate::bad_input::attempt::Attempt;
use crate::bad_input::case::Case;
use crate::bad_input::folder::Folder;

/// Returns all defects, in the order of their review.
fn cases() -> Vec<Case> {
    [
        project_layout::cases(),
        status_json::cases(),
        agent_json::cases(),
        journal::cases(),
        locks::cases(),
        disk::cases(),
        tools::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_defect_is_reported_and_changes_nothing() {
    let messages: Vec<String> = cases().iter().map(Case::try_out).collect();

    insta::assert_snapshot!("messages", messages.join("\n"));
}

#[test]
fn without_a_defect_nothing_is_reported() {
    for attempt in Attempt::ALL {
        let expected = match attempt {
            Attempt::Run => "all achievable deliverables passed",
            // These operations are defects themselves.
            Attempt::CreateTwice | Attempt::CreateExisting => continue,
            _ => "nothing",
        };
        let folder = Folder::new(3);

        let message = attempt.message_in_time(folder.project_dir());

        assert_eq!(message, expected, "{attempt:?}");
    }
}
