//! Fleet: its members and their states.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};

use super::{MemberId, MemberReport};

/// State of a fleet: its members in order, and the state of each.
///
/// It is everything that a [`Strategy`](super::Strategy) sees. It only changes through events that
/// have happened.
///
/// ```
/// use autonoe_harness::strategy::{Fleet, MemberId, MemberReport, MemberState};
///
/// let mut fleet = Fleet::new(["a", "b"].map(MemberId::new));
/// fleet.mark_running(&MemberId::new("b"));
/// fleet.record_result(MemberReport::success(MemberId::new("b"), "done"));
///
/// assert_eq!(fleet.members()[0].state, MemberState::Waiting);
/// assert_eq!(fleet.results_by_end().count(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    members: Vec<Member>,
    /// Index of each member: strategies look up many by name.
    places: HashMap<MemberId, usize>,
}

/// One member of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The ID of the member.
    pub id: MemberId,
    /// The state of the member.
    pub state: MemberState,
}

/// State of a fleet member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberState {
    /// The member was not started.
    Waiting,
    /// The member works.
    Running,
    /// The member was stopped and has not ended yet.
    Stopping,
    /// The member has ended.
    Ended {
        /// The number of members that had ended before it.
        place: usize,
        /// Its result.
        result: Box<MemberReport>,
    },
}

impl Fleet {
    /// Creates a fleet whose members all wait.
    ///
    /// Duplicate names are ignored.
    pub fn new(members: impl IntoIterator<Item = MemberId>) -> Self {
        let (mut waiting, mut places) = (Vec::new(), HashMap::new());
        for id in members {
            if let Entry::Vacant(place) = places.entry(id.clone()) {
                place.insert(waiting.len());
                let state = MemberState::Waiting;
                waiting.push(Member { id, state });
            }
        }
        let members = waiting;
        Self { members, places }
    }

    /// Returns the members, in order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns a member.
    pub fn member(&self, id: &MemberId) -> Option<&Member> {
        self.members.get(*self.places.get(id)?)
    }

    /// Returns the members that were not started.
    pub fn waiting(&self) -> impl Iterator<Item = &MemberId> {
        self.members
            .iter()
            .filter(|member| member.state == MemberState::Waiting)
            .map(|member| &member.id)
    }

    /// Returns the members that run and were not stopped.
    pub fn running(&self) -> impl Iterator<Item = &MemberId> {
        self.members
            .iter()
            .filter(|member| member.state == MemberState::Running)
            .map(|member| &member.id)
    }

    /// Returns whether any member runs, including those that are stopping.
    pub fn has_running_members(&self) -> bool {
        let at_work = [MemberState::Running, MemberState::Stopping];
        self.members
            .iter()
            .any(|member| at_work.contains(&member.state))
    }

    /// Returns the results, in the order of the members.
    pub fn results(&self) -> impl Iterator<Item = &MemberReport> {
        self.members.iter().filter_map(Member::result)
    }

    /// Returns the results, in the order in which the members ended.
    pub fn results_by_end(&self) -> impl Iterator<Item = &MemberReport> {
        let mut ended: Vec<_> = self.members.iter().filter_map(Member::ending).collect();
        ended.sort_by_key(|(place, _)| *place);
        ended.into_iter().map(|(_, result)| result)
    }

    /// Returns the successes, in the order in which the members ended.
    pub fn successes(&self) -> impl Iterator<Item = &MemberReport> {
        self.results_by_end().filter(|result| result.success)
    }

    /// Records that a member runs. Ignored unless it is waiting.
    pub fn mark_running(&mut self, id: &MemberId) {
        self.change(id, MemberState::Running, |state| {
            *state == MemberState::Waiting
        });
    }

    /// Records that a member was stopped. Ignored unless it is running.
    pub fn mark_stopping(&mut self, id: &MemberId) {
        self.change(id, MemberState::Stopping, |state| {
            *state == MemberState::Running
        });
    }

    /// Records the result of a member. Only the first result counts.
    pub fn record_result(&mut self, result: MemberReport) {
        let place = self.results().count();
        let id = result.id.clone();
        let result = Box::new(result);
        self.change(&id, MemberState::Ended { place, result }, |state| {
            !matches!(state, MemberState::Ended { .. })
        });
    }

    fn change(&mut self, id: &MemberId, to: MemberState, may: impl Fn(&MemberState) -> bool) {
        let place = self.places.get(id);
        let member = place.and_then(|place| self.members.get_mut(*place));
        if let Some(member) = member.filter(|member| may(&member.state)) {
            member.state = to;
        }
    }
}

impl Member {
    /// Returns the result of the member, once it has ended.
    pub fn result(&self) -> Option<&MemberReport> {
        self.ending().map(|(_, result)| result)
    }

    fn ending(&self) -> Option<(usize, &MemberReport)> {
        match &self.state {
            MemberState::Ended { place, result } => Some((*place, result.as_ref())),
            MemberState::Waiting | MemberState::Running | MemberState::Stopping => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> MemberId {
        MemberId::new(name)
    }

    #[test]
    fn the_first_result_of_a_member_counts() {
        let mut fleet = Fleet::new([id("a")]);
        fleet.mark_running(&id("a"));
        fleet.record_result(MemberReport::failure(id("a"), "it broke"));

        fleet.record_result(MemberReport::success(id("a"), "late"));
        fleet.mark_running(&id("a"));
        fleet.mark_stopping(&id("a"));

        let result = fleet.members()[0].result().expect("it has ended");
        assert!(!result.success);
        assert_eq!(fleet.results_by_end().count(), 1);
    }

    #[test]
    fn members_survive_serialisation() {
        let mut fleet = Fleet::new(["a", "b"].map(id));
        fleet.mark_running(&id("b"));

        let json = serde_json::to_value(fleet.members()).expect("data");
        let read: Vec<Member> = serde_json::from_value(json.clone()).expect("members");

        assert_eq!(read, fleet.members());
        let expected = serde_json::json!([
            {"id": "a", "state": "waiting"},
            {"id": "b", "state": "running"},
        ]);
        assert_eq!(json, expected);
    }

    #[test]
    fn an_unknown_member_changes_nothing() {
        let mut fleet = Fleet::new([id("a"), id("a")]);
        let before = fleet.clone();

        fleet.mark_running(&id("b"));
        fleet.record_result(MemberReport::success(id("b"), "done"));

        assert_eq!(fleet, before);
        assert_eq!(fleet.members().len(), 1);
    }

    #[test]
    fn results_are_ordered_by_time_and_by_member() {
        let mut fleet = Fleet::new(["a", "b", "c"].map(id));
        for name in ["c", "a", "b"] {
            fleet.mark_running(&id(name));
            fleet.record_result(MemberReport::success(id(name), name));
        }

        let by_time: Vec<_> = fleet.results_by_end().map(|r| r.output.as_str()).collect();
        let by_order: Vec<_> = fleet.results().map(|r| r.output.as_str()).collect();

        assert_eq!(by_time, ["c", "a", "b"]);
        assert_eq!(by_order, ["a", "b", "c"]);
    }
}
