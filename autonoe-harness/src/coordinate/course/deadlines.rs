//! By when members must have ended.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::after;
use crate::HarnessId;

/// By when members must have ended. A member without a time may take as long as the fleet.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadlines(BTreeMap<HarnessId, Timestamp>);

impl Deadlines {
    /// Sets by when a member must have ended.
    pub(super) fn set(&mut self, member: &HarnessId, until: Timestamp) {
        self.0.insert(member.clone(), until);
    }

    /// Forgets the time of a member, which has ended.
    pub(super) fn forget(&mut self, member: &HarnessId) {
        self.0.remove(member);
    }

    /// Gives a member more time, if its time is limited.
    pub(super) fn extend(&mut self, member: &HarnessId, more: Duration) {
        if let Some(until) = self.0.get_mut(member) {
            *until = after(*until, more);
        }
    }

    /// Returns the members whose time is up, in the order of their names.
    pub(super) fn overdue(&self, now: Timestamp) -> Vec<HarnessId> {
        let overdue = self.0.iter().filter(|(_, until)| **until <= now);
        overdue.map(|(member, _)| member.clone()).collect()
    }

    /// Returns when the next member's time is up, of those that count.
    pub(super) fn next(&self, counts: impl Fn(&HarnessId) -> bool) -> Option<Timestamp> {
        let until = self.0.iter().filter(|(member, _)| counts(member));
        until.map(|(_, until)| *until).min()
    }
}
