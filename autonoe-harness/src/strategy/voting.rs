//! The best of several successes.

use std::cmp::Ordering;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Fleet, HarnessResult, Order, Strategy, stop_all};

/// All members work until enough of them have succeeded; then the best of those wins.
///
/// A vote is a result that is there and a success; who failed or was stopped has none. When
/// there can no longer be enough of them, all is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Voting {
    /// How many successes it takes.
    pub min_votes: NonZeroUsize,
    /// Which of them is the best.
    pub criterion: VotingCriterion,
    /// Whether all are waited for although there are enough.
    pub wait_for_all: bool,
}

/// Which success is the best. Of two that are equal it is the one that ended first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum VotingCriterion {
    /// The one that ended first.
    #[default]
    First,
    /// The one that achieved the most: deliverables that have passed in its ledger, then success
    /// criteria that hold, then tests that passed. Changed files do not count: more changes are not
    /// more progress.
    BestProgress,
    /// The one with the most tests that passed; one without a count has none.
    BestTests,
    /// The one with the fewest failed attempts.
    LowestFailures,
    /// The one that worked for the shortest time.
    Fastest,
}

impl Default for Voting {
    fn default() -> Self {
        Self {
            min_votes: NonZeroUsize::MIN.saturating_add(1),
            criterion: VotingCriterion::default(),
            wait_for_all: false,
        }
    }
}

#[typetag::serde(name = "voting")]
impl Strategy for Voting {
    fn decide(&self, fleet: &Fleet) -> Vec<Order> {
        let votes = fleet.successes().count();
        let possible = votes + fleet.waiting().count() + fleet.running().count();
        let is_decided = votes >= self.min_votes.get() && !self.wait_for_all;
        let is_lost = possible < self.min_votes.get();
        if is_decided || is_lost {
            if fleet.is_at_work() {
                let why = match is_lost {
                    true => "there cannot be enough votes any more",
                    false => "there are enough votes",
                };
                return stop_all(fleet, why);
            }
            return self.finish(fleet);
        }
        let starts: Vec<_> = fleet.waiting().map(Order::start).collect();
        match starts.is_empty() && !fleet.is_at_work() {
            true => self.finish(fleet),
            false => starts,
        }
    }
}

impl Voting {
    fn finish(&self, fleet: &Fleet) -> Vec<Order> {
        let has_quorum = fleet.successes().count() >= self.min_votes.get();
        let best = has_quorum.then(|| self.criterion.best(fleet)).flatten();
        vec![Order::Finish(
            best.map_or_else(Decision::failed, Decision::won_by),
        )]
    }
}

impl VotingCriterion {
    fn best(self, fleet: &Fleet) -> Option<&HarnessResult> {
        // Of equals `min_by` takes the first, and they come in the order in which they ended.
        fleet
            .successes()
            .min_by(|one, other| self.compare(one, other))
    }

    /// The better one is less.
    fn compare(self, one: &HarnessResult, other: &HarnessResult) -> Ordering {
        match self {
            Self::First => Ordering::Equal,
            Self::BestProgress => achieved(other).cmp(&achieved(one)),
            Self::BestTests => other.tests_passed.cmp(&one.tests_passed),
            Self::LowestFailures => one.failures.cmp(&other.failures),
            Self::Fastest => one.duration.cmp(&other.duration),
        }
    }
}

/// Returns what distinguishes successes: each of them has done all of its tasks, so that their
/// `progress` is the same.
fn achieved(result: &HarnessResult) -> (u64, u64, Option<u64>) {
    (
        result.deliverables_passed,
        result.criteria_passed,
        result.tests_passed,
    )
}

autonoe_core::register_spec!(Other("strategy"), Voting, "voting", {
    "minVotes": 2,
    "criterion": "bestTests"
});
