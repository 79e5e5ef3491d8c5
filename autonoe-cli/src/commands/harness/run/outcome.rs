//! Output and exit code of a finished fleet.

use autonoe_app::exit_code;
use autonoe_app::text::sanitize_line;
use autonoe_dashboard::{Dashboard, format_cost};
use autonoe_harness::coordinate::CutShort;
use autonoe_harness::isolation::WorkLocation;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{FleetHome, FleetReport};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::harness::snapshot::Watcher;
use crate::commands::harness::status::{FleetResult, format_members, format_members_done};
use crate::commands::runtime::block_on;

/// Final output of `autonoe harness run --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct HarnessOutcome<'a> {
    /// The name of the fleet.
    fleet: &'a str,
    #[serde(flatten)]
    result: FleetResult,
    /// Reason for an early end; `null` if it did not end early.
    cut_short: Option<String>,
    /// The reason of the request to stop it.
    stopped: Option<&'a str>,
    /// The commit of the target branch that contains the work of the winner.
    merged: Option<&'a str>,
    /// Reason why the work of the winner was not merged.
    not_merged: Option<&'a str>,
    /// Locations of unmerged work.
    unmerged_work: &'a [WorkLocation],
    /// Members that did not stop in time.
    unstopped: &'a [MemberId],
}

impl<'a> HarnessOutcome<'a> {
    pub(super) fn new(fleet: &'a str, outcome: &'a FleetReport) -> Self {
        Self {
            fleet,
            result: outcome.clone().into(),
            cut_short: outcome.cut_short.as_ref().map(ToString::to_string),
            stopped: outcome.stopped.as_deref(),
            merged: outcome.merged.as_deref(),
            not_merged: outcome.not_merged.as_deref(),
            unmerged_work: &outcome.unmerged_work,
            unstopped: &outcome.unstopped,
        }
    }
}

/// Returns the exit code of a fleet.
pub(super) fn fleet_exit_code(outcome: &FleetReport) -> u8 {
    let mut members = outcome.results.iter();
    let is_spent = members.any(|member| member.exhausted.is_some());
    match (&outcome.cut_short, outcome.success) {
        (_, true) => 0,
        (Some(CutShort::TimedOut | CutShort::InsufficientBudget { .. }), false) => {
            exit_code::BUDGET
        }
        (None, false) if is_spent && outcome.stopped.is_none() => exit_code::BUDGET,
        (_, false) => exit_code::FAILURE,
    }
}

/// Formats the outcome of a fleet as text.
pub(super) fn format_outcome(
    home: &FleetHome,
    fleet: &str,
    outcome: &FleetReport,
    width: Option<usize>,
) -> String {
    let end = match (outcome.success, &outcome.stopped, &outcome.cut_short) {
        (true, ..) => "succeeded".to_owned(),
        (false, Some(reason), _) => format!("was stopped: {}", sanitize_line(reason)),
        (false, None, Some(reason)) => {
            format!("ended early: {}", sanitize_line(&reason.to_string()))
        }
        (false, None, None) => "failed".to_owned(),
    };
    let mut text = format!("Fleet {fleet} {end}");
    if let Some(winner) = &outcome.winner {
        text.push_str(&format!(", won by {winner}"));
    }
    text.push('\n');
    if let Some(now) = final_state(home, fleet) {
        text.push_str(&format_members(&now.members, width));
        let (totals, cost) = (&now.totals, format_cost(&now.totals.cost));
        let (done, all) = (totals.done, totals.total);
        text.push_str(&format!("{}, {cost}\n", format_members_done(done, all)));
    }
    if let Some(reason) = &outcome.not_merged {
        let reason = sanitize_line(reason);
        text.push_str(&format!(
            "The work of the winner was not merged: {reason}\n"
        ));
    }
    for place in &outcome.unmerged_work {
        let folder = place.folder.display().to_string();
        let (branch, folder) = (sanitize_line(&place.branch), sanitize_line(&folder));
        text.push_str(&format!(
            "Work is kept on the branch {branch} in {folder}; to merge it, commit or stash your \
             own changes and run `git merge {branch}`\n"
        ));
    }
    text
}

/// Returns the final state of the fleet, if it can be read.
fn final_state(home: &FleetHome, fleet: &str) -> Option<Dashboard> {
    block_on(Watcher::new(home, fleet).snapshot_once(Timestamp::now())).ok()?
}
