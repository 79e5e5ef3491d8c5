//! How a run comes to its end.

use autonoe_core::{RunInstruction, RunReport};

use super::super::calls::EndCall;
use super::{SessionsCourse, Step};

/// The end of a run that is clear. Its report is made once: what is written down on the host and what
/// is told have the same times.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    /// The host is to write it down.
    Concluding {
        /// The queue of the host.
        queue: String,
        end: Box<EndCall>,
    },
    /// It has, or cannot.
    Concluded(Box<RunReport>),
}

impl SessionsCourse {
    /// Ends the run, after its host was told. One that is on no host is over.
    pub(super) fn end(&mut self, report: RunReport) -> Step {
        let ending = match &self.known.claim {
            Some(claim) => Ending::Concluding {
                queue: claim.queue.clone(),
                end: Box::new(EndCall {
                    whose: self.whose(),
                    epoch: claim.epoch,
                    report,
                }),
            },
            None => Ending::Concluded(Box::new(report)),
        };
        let step = self.ended_with(&ending);
        self.ending = Some(ending);
        step
    }

    /// Says what is to be done for the end.
    pub(super) fn ended_with(&self, ending: &Ending) -> Step {
        match ending.clone() {
            Ending::Concluding { queue, end } => Step::Conclude { queue, end },
            Ending::Concluded(mut report) => {
                // What was said while the host was told reaches nobody, and that is told.
                let said = self.known.inbox.iter().filter_map(|told| match told {
                    RunInstruction::Say(text) => Some(text.clone()),
                    RunInstruction::Pause | RunInstruction::Resume => None,
                });
                report.undelivered_messages.extend(said);
                Step::Finish(report)
            }
        }
    }

    /// Takes note that the host was told the end, whatever came of it.
    pub(super) fn concluded(&mut self) {
        if let Some(Ending::Concluding { end, .. }) = &self.ending {
            self.ending = Some(Ending::Concluded(Box::new(end.report.clone())));
        }
    }
}
