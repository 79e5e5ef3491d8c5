//! What happens when time is up.

use std::time::Duration;

use autonoe_core::format_duration;
use jiff::Timestamp;

use super::{FleetCourse, FleetStep};
use crate::coordinate::CutShort;
use crate::{HarnessId, HarnessResult, MemberState};

impl FleetCourse {
    /// Does what is due by now.
    pub(super) fn take_time(&mut self, now: Timestamp) {
        for member in self.deadlines.overdue(now) {
            match self.state(&member) {
                // It does not work, and has its time again when it does.
                Some(MemberState::Running) if self.is_paused() => {}
                Some(MemberState::Running) => {
                    let timeout = self.spec(&member).and_then(|spec| spec.timeout);
                    let why = timed_out(timeout.unwrap_or_default());
                    self.timed_out.insert(member.clone(), why.clone());
                    self.stops.push_back((member, why));
                }
                Some(MemberState::Stopping) => self.leave_behind(now, member),
                _ => self.deadlines.forget(&member),
            }
        }
        if self.cut_short.is_none() && !self.is_paused() && now >= self.deadline {
            self.cut(now, CutShort::TimeIsUp);
        }
    }

    pub(super) fn wait(&self) -> FleetStep {
        let counts = |member: &HarnessId| {
            !(self.is_paused() && self.state(member) == Some(&MemberState::Running))
        };
        let has_deadline = self.cut_short.is_none() && !self.is_paused();
        let deadline = has_deadline.then_some(self.deadline);
        let until = self.deadlines.next(counts).into_iter().chain(deadline);
        FleetStep::Wait { until: until.min() }
    }

    fn leave_behind(&mut self, now: Timestamp, member: HarnessId) {
        tracing::error!(fleet = %self.name, %member, "a member does not end");
        let (run, allowance) = self.account(&member);
        self.purse.write_off(&run, allowance);
        self.left_behind.push(member.clone());
        let patience = format_duration(self.what.patience);
        let error = format!("it was told to stop and had not ended after {patience}");
        self.end(now, HarnessResult::lost(member, error));
    }
}

/// How it is said that a member's time was up. Its run is told the same, so that who finds it again
/// says the same.
fn timed_out(timeout: Duration) -> String {
    format!("it timed out after {}", format_duration(timeout))
}
