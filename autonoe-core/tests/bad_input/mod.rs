//! Bad input: for every kind of file and every defect an error that names the place, and no file
//! changed.
//!
//! All messages stand in one file, to be reviewed together:
//! `snapshots/bad_input__messages.snap`. What is particular to the values of
//! `agent.json` is in the tests of the configuration.
#![cfg(all(feature = "project", target_os = "linux"))]

mod agent_json;
mod attempt;
mod case;
mod disk;
mod folder;
mod journal;
mod locks;
mod no_defects;
mod other_process;
mod places;
mod status_json;
mod tools;
mod tree;
mod truncated;

use crate::bad_input::attempt::Attempt;
use crate::bad_input::case::Case;
use crate::bad_input::folder::Folder;

/// All defects, in the order in which they are reviewed.
fn cases() -> Vec<Case> {
    [
        places::cases(),
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
fn every_defect_is_told_and_changes_nothing() {
    let told: Vec<String> = cases().iter().map(Case::try_out).collect();

    insta::assert_snapshot!("messages", told.join("\n"));
}

#[test]
fn without_a_defect_nothing_is_told() {
    for attempt in Attempt::ALL {
        let expected = match attempt {
            Attempt::Run => "all achievable deliverables passed",
            // These are defects themselves.
            Attempt::CreateTwice | Attempt::CreateTaken => continue,
            _ => "nothing",
        };
        let folder = Folder::new(3);

        let said = attempt.in_time(folder.project_dir());

        assert_eq!(said, expected, "{attempt:?}");
    }
}
