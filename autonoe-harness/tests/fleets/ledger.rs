//! Fixture: external record of acknowledged writes.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use autonoe_harness::FleetReport;
use autonoe_harness::alert::{Alert, AlertSink};
use autonoe_harness::strategy::MemberId;
use serde::{Deserialize, Serialize};

/// A file of lines, which processes append to after a write was acknowledged.
#[derive(Clone)]
pub(crate) struct AcknowledgedWrites(PathBuf);

/// An acknowledged write, which must not be lost from then on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Entry {
    /// A task is done, according to the journal of the member.
    Task { member: MemberId, task: String },
    /// A member has ended, according to its folder.
    Run { member: MemberId, success: bool },
    /// The fleet has ended, with this outcome.
    Fleet { outcome: String },
}

impl Entry {
    pub(crate) fn fleet(outcome: &FleetReport) -> Self {
        let outcome = format!("{outcome:?}");
        Self::Fleet { outcome }
    }
}

impl AcknowledgedWrites {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn add(&self, entry: &Entry) {
        let mut line = serde_json::to_vec(entry).expect("it serialises");
        line.push(b'\n');
        let file = OpenOptions::new().append(true).create(true).open(&self.0);
        // In one write, so that a kill leaves all of it or nothing.
        file.expect("a file").write_all(&line).expect("writable");
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("an entry"))
            .collect()
    }

    /// Records tasks that are done.
    pub(crate) fn of_tasks(self) -> impl AlertSink + use<> {
        move |alert: &Alert| {
            let task = alert.context.get("task").and_then(|task| task.as_str());
            let (Some(task), Some(member)) = (task, &alert.member) else {
                return;
            };
            if alert.kind == "task_done" {
                let (member, task) = (member.clone(), task.to_owned());
                self.add(&Entry::Task { member, task });
            }
        }
    }
}
