//! How a fleet of agents stands.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};

use super::{AggregatedResult, Decision, HarnessId, HarnessResult};

/// How a fleet of agents stands: its members in their order, and what became of each.
///
/// It is all that a [`Strategy`](super::Strategy) sees. It changes only by what really happened.
///
/// ```
/// use autonoe_harness::{Fleet, HarnessId, HarnessResult, MemberState};
///
/// let mut fleet = Fleet::new(["a", "b"].map(HarnessId::new));
/// fleet.began(&HarnessId::new("b"));
/// fleet.ended(HarnessResult::success(HarnessId::new("b"), "done"));
///
/// assert_eq!(fleet.members()[0].state, MemberState::Waiting);
/// assert_eq!(fleet.ended_in_order().count(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Fleet {
    members: Vec<Member>,
    /// Where each member stands among them: strategies ask for many by name.
    #[serde(skip)]
    places: HashMap<HarnessId, usize>,
}

/// A fleet as it is written down.
#[derive(Deserialize)]
struct Written {
    members: Vec<Member>,
}

/// One member of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Who it is.
    pub id: HarnessId,
    /// What became of it.
    pub state: MemberState,
}

/// What became of a member of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberState {
    /// It was not started.
    Waiting,
    /// It works.
    Running,
    /// It was told to stop and has not ended yet.
    Stopping,
    /// It has ended.
    Ended {
        /// How many members had ended before it.
        place: usize,
        /// What it came to.
        result: Box<HarnessResult>,
    },
}

impl Fleet {
    /// Makes a fleet of members that all wait.
    ///
    /// A name that comes twice is taken once.
    pub fn new(members: impl IntoIterator<Item = HarnessId>) -> Self {
        let waiting = |id| Member {
            id,
            state: MemberState::Waiting,
        };
        Self::of(members.into_iter().map(waiting))
    }

    fn of(all: impl IntoIterator<Item = Member>) -> Self {
        let (mut members, mut places) = (Vec::new(), HashMap::new());
        for member in all {
            if let Entry::Vacant(place) = places.entry(member.id.clone()) {
                place.insert(members.len());
                members.push(member);
            }
        }
        Self { members, places }
    }

    /// Returns the members in their order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns a member.
    pub fn member(&self, id: &HarnessId) -> Option<&Member> {
        self.members.get(*self.places.get(id)?)
    }

    /// Returns the members that were not started.
    pub fn waiting(&self) -> impl Iterator<Item = &HarnessId> {
        self.members
            .iter()
            .filter(|member| member.state == MemberState::Waiting)
            .map(|member| &member.id)
    }

    /// Returns the members that work and were not told to stop.
    pub fn running(&self) -> impl Iterator<Item = &HarnessId> {
        self.members
            .iter()
            .filter(|member| member.state == MemberState::Running)
            .map(|member| &member.id)
    }

    /// Tells whether any member works, those that are stopping included.
    pub fn is_at_work(&self) -> bool {
        let at_work = [MemberState::Running, MemberState::Stopping];
        self.members
            .iter()
            .any(|member| at_work.contains(&member.state))
    }

    /// Returns what members came to, in the order of the members.
    pub fn results(&self) -> impl Iterator<Item = &HarnessResult> {
        self.members.iter().filter_map(Member::result)
    }

    /// Returns what members came to, in the order in which they ended.
    pub fn ended_in_order(&self) -> impl Iterator<Item = &HarnessResult> {
        let mut ended: Vec<_> = self.members.iter().filter_map(Member::ending).collect();
        ended.sort_by_key(|(place, _)| *place);
        ended.into_iter().map(|(_, result)| result)
    }

    /// Returns the successes in the order in which they came.
    pub fn successes(&self) -> impl Iterator<Item = &HarnessResult> {
        self.ended_in_order().filter(|result| result.success)
    }

    /// Notes that a member works. One that is not waiting is left as it is.
    pub fn began(&mut self, id: &HarnessId) {
        self.change(id, MemberState::Running, |state| {
            *state == MemberState::Waiting
        });
    }

    /// Notes that a member was told to stop. One that is not running is left as it is.
    pub fn stopping(&mut self, id: &HarnessId) {
        self.change(id, MemberState::Stopping, |state| {
            *state == MemberState::Running
        });
    }

    /// Notes what a member came to. The first word about a member stands.
    pub fn ended(&mut self, result: HarnessResult) {
        let place = self.results().count();
        let id = result.id.clone();
        let result = Box::new(result);
        self.change(&id, MemberState::Ended { place, result }, |state| {
            !matches!(state, MemberState::Ended { .. })
        });
    }

    /// Puts together what the fleet came to, as `decision` of `strategy` says.
    pub fn aggregate(&self, strategy: &str, decision: Decision) -> AggregatedResult {
        AggregatedResult {
            strategy: strategy.to_owned(),
            success: decision.success,
            results: self.results().cloned().collect(),
            not_started: self.waiting().cloned().collect(),
            winner: decision.winner,
            aggregated_output: decision.output,
        }
    }

    fn change(&mut self, id: &HarnessId, to: MemberState, may: impl Fn(&MemberState) -> bool) {
        let place = self.places.get(id);
        let member = place.and_then(|place| self.members.get_mut(*place));
        if let Some(member) = member.filter(|member| may(&member.state)) {
            member.state = to;
        }
    }
}

impl From<Written> for Fleet {
    fn from(written: Written) -> Self {
        Self::of(written.members)
    }
}

impl Member {
    /// Returns what the member came to, once it has ended.
    pub fn result(&self) -> Option<&HarnessResult> {
        self.ending().map(|(_, result)| result)
    }

    fn ending(&self) -> Option<(usize, &HarnessResult)> {
        match &self.state {
            MemberState::Ended { place, result } => Some((*place, result.as_ref())),
            MemberState::Waiting | MemberState::Running | MemberState::Stopping => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> HarnessId {
        HarnessId::new(name)
    }

    #[test]
    fn the_first_word_about_a_member_stands() {
        let mut fleet = Fleet::new([id("a")]);
        fleet.began(&id("a"));
        fleet.ended(HarnessResult::failure(id("a"), "it broke"));

        fleet.ended(HarnessResult::success(id("a"), "late"));
        fleet.began(&id("a"));
        fleet.stopping(&id("a"));

        let result = fleet.members()[0].result().expect("it has ended");
        assert!(!result.success);
        assert_eq!(fleet.ended_in_order().count(), 1);
    }

    #[test]
    fn a_fleet_that_was_written_down_is_the_same() {
        let mut fleet = Fleet::new(["a", "b"].map(id));
        fleet.began(&id("b"));

        let json = serde_json::to_value(&fleet).expect("data");
        let read: Fleet = serde_json::from_value(json.clone()).expect("a fleet");

        assert_eq!(read, fleet);
        assert_eq!(read.member(&id("b")), fleet.members().get(1));
        let members = serde_json::json!([
            {"id": "a", "state": "waiting"},
            {"id": "b", "state": "running"},
        ]);
        assert_eq!(json, serde_json::json!({"members": members}));
    }

    #[test]
    fn a_stranger_changes_nothing() {
        let mut fleet = Fleet::new([id("a"), id("a")]);
        let before = fleet.clone();

        fleet.began(&id("b"));
        fleet.ended(HarnessResult::success(id("b"), "done"));

        assert_eq!(fleet, before);
        assert_eq!(fleet.members().len(), 1);
    }

    #[test]
    fn endings_are_told_in_the_order_in_which_they_came() {
        let mut fleet = Fleet::new(["a", "b", "c"].map(id));
        for name in ["c", "a", "b"] {
            fleet.began(&id(name));
            fleet.ended(HarnessResult::success(id(name), name));
        }

        let by_time: Vec<_> = fleet.ended_in_order().map(|r| r.output.as_str()).collect();
        let by_order: Vec<_> = fleet.results().map(|r| r.output.as_str()).collect();

        assert_eq!(by_time, ["c", "a", "b"]);
        assert_eq!(by_order, ["a", "b", "c"]);
    }
}
