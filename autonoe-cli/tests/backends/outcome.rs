//! Outcome of a run, as text to compare between backends.

use std::collections::BTreeMap;
use std::fmt;

use autonoe_core::RunReport;
use autonoe_testkit::EventLog;
use serde_json::{Value, json};

use crate::backends::workspace::TempWorkspace;

/// The result of a run that must be the same on all backends.
///
/// Nothing is normalised: the ledger is compared byte by byte. Details that differ between backends
/// are left out: the message of an error (but not its code), times, costs and tokens, texts of
/// agents, and names of tools.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The exit reason, with the code of an error and whether a retry may help.
    exit: Value,
    /// The numbers of sessions and deliverables.
    counts: Value,
    /// The instruction and the end of each session.
    sessions: Vec<Value>,
    /// The changes of each deliverable, in order. Calls that an agent makes at once can change two
    /// deliverables in any order.
    changes: BTreeMap<String, Vec<String>>,
    /// The denied shell commands, with the reasons.
    refused_commands: Vec<Value>,
    /// `status.json`.
    ledger: String,
    files: BTreeMap<String, String>,
}

impl Outcome {
    pub(crate) fn new(report: &RunReport, log: &EventLog, place: &TempWorkspace) -> Self {
        let events = log.json();
        let named = |name: &'static str| events.iter().filter(move |event| event["event"] == name);
        let sessions = named("session_started").zip(named("session_ended"));
        let report = serde_json::to_value(report).expect("JSON");
        let counts = [
            "iterations",
            "sessions",
            "deliverablesPassedCount",
            "deliverablesTotalCount",
            "blockedCount",
            "verifiedCount",
            "verifiedTotalCount",
        ];
        Self {
            exit: without_messages(&report),
            counts: counts.map(|name| report[name].clone()).to_vec().into(),
            sessions: sessions
                .map(|(started, ended)| {
                    json!([started["instruction"], without_messages(&ended["result"])])
                })
                .collect(),
            changes: changes(named("status_changed")),
            refused_commands: named("tool_decided").filter_map(refused).collect(),
            ledger: place.read(".autonoe/status.json"),
            files: place.files(),
        }
    }
}

/// Formats the outcome as text, one fact per line.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit {}, counts {}", self.exit, self.counts)?;
        for session in &self.sessions {
            writeln!(f, "session {session}")?;
        }
        for (deliverable, changes) in &self.changes {
            writeln!(f, "{deliverable}: {}", changes.join(", "))?;
        }
        for refused in &self.refused_commands {
            writeln!(f, "refused {refused}")?;
        }
        for (name, text) in &self.files {
            writeln!(f, "{name}: {text:?}")?;
        }
        f.write_str(&self.ledger)
    }
}

/// Returns the machine-readable part of a session end or an exit reason.
fn without_messages(end: &Value) -> Value {
    let error = &end["error"];
    let codes = [
        &end["exitReason"],
        &end["outcome"],
        &error["code"],
        &error["retry"],
    ];
    codes
        .into_iter()
        .filter(|code| !code.is_null())
        .cloned()
        .collect()
}

fn changes<'a>(events: impl Iterator<Item = &'a Value>) -> BTreeMap<String, Vec<String>> {
    let mut changes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events {
        let text = |name: &str| event["change"][name].as_str().unwrap_or("new").to_owned();
        let change = format!("{} -> {}", text("previousStatus"), text("newStatus"));
        changes
            .entry(text("deliverableId"))
            .or_default()
            .push(change);
    }
    changes
}

/// Returns a denied command, with the guard and the reason.
fn refused(event: &Value) -> Option<Value> {
    let (call, decision) = (&event["call"], &event["decision"]);
    let is_refused = decision["decision"] == "deny" && call["kind"]["kind"] == "shell";
    is_refused.then(|| json!([call["kind"]["command"], decision["by"], decision["reason"]]))
}
