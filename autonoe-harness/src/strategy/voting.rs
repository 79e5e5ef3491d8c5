//! Voting strategy: the best of several successes wins.

use std::cmp::Ordering;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Fleet, MemberReport, Order, Strategy, stop_all};

/// Runs all members until enough of them have succeeded; then the best of those wins.
///
/// A vote is a successful result; failed and stopped members have none. When there can no longer be
/// enough votes, the strategy ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Voting {
    /// The number of required successes.
    pub min_votes: NonZeroUsize,
    /// The criterion by which the best one is selected.
    pub criterion: VotingCriterion,
    /// Whether to wait for all members even if there are enough votes.
    pub wait_for_all: bool,
}

/// Criterion of the best success. Ties go to the one that ended first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum VotingCriterion {
    /// The one that ended first.
    #[default]
    First,
    /// The one that achieved the most: passed deliverables in a ledger in its folder, which only
    /// tools of the embedding program write, then success criteria that hold, then passed tests. Changed files do not count: more changes are not more
    /// progress.
    BestProgress,
    /// The one with the most passed tests; a result without a count has none.
    BestTests,
    /// The one with the fewest failed attempts.
    LowestFailures,
    /// The one with the shortest working time.
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
            if fleet.has_running_members() {
                let reason = if is_lost {
                    "the required number of votes cannot be reached"
                } else {
                    "the required number of votes is reached"
                };
                return stop_all(fleet, reason);
            }
            return self.finish(fleet);
        }
        let starts: Vec<_> = fleet.waiting().map(Order::start).collect();
        if starts.is_empty() && !fleet.has_running_members() {
            self.finish(fleet)
        } else {
            starts
        }
    }

    fn picks_winner(&self) -> bool {
        true
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
    fn best(self, fleet: &Fleet) -> Option<&MemberReport> {
        // `min_by` returns the first of equal elements, and they are in the order in which they
        // ended.
        fleet
            .successes()
            .min_by(|one, other| self.compare(one, other))
    }

    /// Orders better results first.
    fn compare(self, one: &MemberReport, other: &MemberReport) -> Ordering {
        match self {
            Self::First => Ordering::Equal,
            Self::BestProgress => achieved(other).cmp(&achieved(one)),
            Self::BestTests => other.tests_passed.cmp(&one.tests_passed),
            Self::LowestFailures => one.failures.cmp(&other.failures),
            Self::Fastest => one.duration.cmp(&other.duration),
        }
    }
}

/// Returns the key that distinguishes successes: each of them has done all of its tasks, so their
/// `progress` is the same.
fn achieved(result: &MemberReport) -> (u64, u64, Option<u64>) {
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
