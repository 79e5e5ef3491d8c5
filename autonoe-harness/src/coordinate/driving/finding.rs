//! Finds the runs that a coordinator before this one has started.

use autonoe_core::{EngineError, RunId, RunView};

use super::Driving;
use crate::HarnessId;
use crate::coordinate::CoordinationError;
use crate::coordinate::coordinator::Coordinator;

impl Driving<'_> {
    /// Begins with what is there of the fleet already.
    pub(super) async fn find(&mut self) -> Result<(), CoordinationError> {
        let members = self.course.fleet().members().iter();
        let members: Vec<HarnessId> = members.map(|member| member.id.clone()).collect();
        let mut found = Vec::new();
        for member in members {
            let run = self.course.run_of(&member);
            if let Some(view) = look(self.plan, &run).await? {
                found.push((member, run, view));
            }
        }
        // Those that have ended first: what they returned may have paid for the others.
        let (mut ended, at_work): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|(_, _, view)| view.outcome.is_some());
        let known = &self.plan.ended_before;
        ended.sort_by_key(|(member, ..)| {
            let place = known.iter().position(|known| known == member);
            place.unwrap_or(usize::MAX)
        });
        for (member, run, view) in ended.into_iter().chain(at_work) {
            self.course.found(self.now(), &member, &view);
            self.tell();
            if view.outcome.is_none() {
                self.watch.add(member, run);
            }
        }
        Ok(())
    }
}

async fn look(plan: &Coordinator, run: &RunId) -> Result<Option<RunView>, CoordinationError> {
    match plan.tried(|| plan.engine.status(run)).await {
        Ok(view) => Ok(Some(view)),
        Err(EngineError::Unknown(_)) => Ok(None),
        Err(source) => {
            let run = run.clone();
            Err(CoordinationError::Engine { run, source })
        }
    }
}
