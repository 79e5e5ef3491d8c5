//! What a fleet came to.

use autonoe_dashboard::{Dashboard, cost_words};
use autonoe_harness::{AggregatedResult, CutShort, FleetHome, FleetOutcome, HarnessId, WorkPlace};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::harness::snapshot::Watcher;
use crate::commands::harness::status::{members, members_done};
use crate::commands::harness::waiting;
use crate::exit_code;
use crate::present::harmless_line;

/// What `autonoe harness run --json` prints at the end.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct HarnessOutcome<'a> {
    /// The name of the fleet.
    fleet: &'a str,
    /// What its members came to, each and all together.
    #[serde(flatten)]
    result: &'a AggregatedResult,
    /// Why it ended before its strategy was done; `null` if it did not.
    cut_short: Option<String>,
    /// Why it was stopped, in the words of who asked for it.
    stopped: Option<&'a str>,
    /// The commit that the base was at when the work of the winner was in it.
    merged: Option<&'a str>,
    /// Why the work of the winner is not in the base.
    not_merged: Option<&'a str>,
    /// Where work is that was not merged.
    kept: &'a [WorkPlace],
    /// Members that were told to stop and had not ended in time.
    left_behind: &'a [HarnessId],
}

impl<'a> HarnessOutcome<'a> {
    pub(super) fn of(fleet: &'a str, outcome: &'a FleetOutcome) -> Self {
        Self {
            fleet,
            result: &outcome.result,
            cut_short: outcome.cut_short.as_ref().map(ToString::to_string),
            stopped: outcome.stopped.as_deref(),
            merged: outcome.merged.as_deref(),
            not_merged: outcome.not_merged.as_deref(),
            kept: &outcome.kept,
            left_behind: &outcome.left_behind,
        }
    }
}

/// Returns the exit code of a fleet.
pub(super) fn code(outcome: &FleetOutcome) -> u8 {
    let mut members = outcome.result.results.iter();
    let is_spent = members.any(|member| member.exhausted.is_some());
    match (&outcome.cut_short, outcome.result.success) {
        (_, true) => 0,
        (Some(CutShort::TimeIsUp | CutShort::CannotBePaid { .. }), false) => exit_code::BUDGET,
        (None, false) if is_spent && outcome.stopped.is_none() => exit_code::BUDGET,
        (_, false) => exit_code::FAILURE,
    }
}

/// Writes what it came to for people.
pub(super) fn shown(
    home: &FleetHome,
    fleet: &str,
    outcome: &FleetOutcome,
    width: Option<usize>,
) -> String {
    let result = &outcome.result;
    let how = match (result.success, &outcome.stopped, &outcome.cut_short) {
        (true, ..) => "succeeded".to_owned(),
        (false, Some(why), _) => format!("was stopped: {}", harmless_line(why)),
        (false, None, Some(why)) => format!("was cut short: {}", harmless_line(&why.to_string())),
        (false, None, None) => "did not succeed".to_owned(),
    };
    let mut text = format!("Fleet {fleet} {how}");
    if let Some(winner) = &result.winner {
        text.push_str(&format!(", won by {winner}"));
    }
    text.push('\n');
    if let Some(now) = now(home, fleet) {
        text.push_str(&members(&now.members, width));
        let (totals, cost) = (&now.totals, cost_words(&now.totals.cost));
        let (done, all) = (totals.done, totals.total);
        text.push_str(&format!("{}, {cost}\n", members_done(done, all)));
    }
    if let Some(why) = &outcome.not_merged {
        let why = harmless_line(why);
        text.push_str(&format!("The work of the winner was not merged: {why}\n"));
    }
    for place in &outcome.kept {
        let folder = place.folder.display().to_string();
        let (branch, folder) = (harmless_line(&place.branch), harmless_line(&folder));
        text.push_str(&format!(
            "Work is kept on the branch {branch} in {folder}\n"
        ));
    }
    text
}

/// Looks how the fleet stands at its end.
fn now(home: &FleetHome, fleet: &str) -> Option<Dashboard> {
    waiting(Watcher::new(home, fleet).look_once(Timestamp::now())).ok()?
}
