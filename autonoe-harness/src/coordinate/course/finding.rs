//! Finds the runs that a coordinator before this one has started.

use autonoe_core::{EngineError, RunId, RunPhase, RunView};

use super::{Course, after};
use crate::HarnessId;
use crate::coordinate::watch::ASK_AGAIN;
use crate::coordinate::{CoordinationError, FleetEventKind};

/// How often an engine that fails is asked about a run.
const TRIES: usize = 3;

impl Course<'_> {
    /// Begins, with what is there of the fleet already.
    pub(in crate::coordinate) async fn begin(&mut self) -> Result<(), CoordinationError> {
        let members = self.fleet.members().iter();
        let members: Vec<HarnessId> = members.map(|member| member.id.clone()).collect();
        self.tell(FleetEventKind::Began {
            strategy: self.plan.strategy.typetag_name().to_owned(),
            members: members.clone(),
        });
        let mut found = Vec::new();
        for member in members {
            let run = self.plan.run_of(&member);
            if let Some(view) = self.look(&run).await? {
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
            self.find_again(member, run, &view);
        }
        Ok(())
    }

    async fn look(&self, run: &RunId) -> Result<Option<RunView>, CoordinationError> {
        let mut tries = 1;
        loop {
            match self.answered(self.plan.engine.status(run)).await {
                Ok(view) => return Ok(Some(view)),
                Err(EngineError::Unknown(_)) => return Ok(None),
                Err(EngineError::Failed { .. }) if tries < TRIES => {
                    tries += 1;
                    self.plan.clock.sleep(ASK_AGAIN).await;
                }
                Err(source) => {
                    let run = run.clone();
                    return Err(CoordinationError::Engine { run, source });
                }
            }
        }
    }

    fn find_again(&mut self, member: HarnessId, run: RunId, view: &RunView) {
        let Some(spec) = self.spec(&member) else {
            return;
        };
        if let Err(why) = self.purse.reserve(&run, spec.allowance) {
            tracing::warn!(%run, why, "a run that is there already cannot be paid");
        }
        self.fleet.began(&member);
        self.tell(FleetEventKind::FoundAgain {
            member: member.clone(),
            run: run.clone(),
        });
        if let Some(outcome) = &view.outcome {
            self.take_outcome(&member, outcome);
            return;
        }
        let now = self.plan.clock.now();
        let until = match view.phase {
            RunPhase::Stopping => {
                self.fleet.stopping(&member);
                Some(after(now, self.plan.patience))
            }
            // It has worked for a while.
            _ => spec
                .timeout
                .map(|timeout| after(now, timeout.saturating_sub(view.at.spent.time))),
        };
        self.watch.add(member, run, until);
    }
}
