//! End of a run: recording on its host, then the final report.

use autonoe_core::RunReport;
use autonoe_core::engine::RunInstruction;

use super::super::requests::EndCall;
use super::{SessionsMachine, SessionsStep};

/// The end of a run. Its report is created once, so that the host's record and the reported end
/// have the same times.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ending {
    /// The host is to record it.
    Concluding {
        /// The queue of the host.
        queue: String,
        end: Box<EndCall>,
    },
    /// The host has recorded it, or cannot.
    Concluded(Box<RunReport>),
}

impl SessionsMachine {
    /// Ends the run after its host has recorded the end. Without a host the run ends at once.
    pub(super) fn end(&mut self, report: RunReport) -> SessionsStep {
        let ending = match &self.known.claim {
            Some(claim) => Ending::Concluding {
                queue: claim.queue.clone(),
                end: Box::new(EndCall {
                    whose: self.run_ref(),
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

    /// Returns the next step of the end.
    pub(super) fn ended_with(&self, ending: &Ending) -> SessionsStep {
        match ending.clone() {
            Ending::Concluding { queue, end } => SessionsStep::Conclude { queue, end },
            Ending::Concluded(mut report) => {
                // Messages that arrived while the host recorded the end are undelivered, and
                // reported as such.
                let messages =
                    self.known
                        .inbox
                        .iter()
                        .filter_map(|instruction| match instruction {
                            RunInstruction::Message(text) => Some(text.clone()),
                            RunInstruction::Pause | RunInstruction::Resume => None,
                        });
                report.undelivered_messages.extend(messages);
                SessionsStep::Finish(report)
            }
        }
    }

    /// Handles the answer of the host, whether it has recorded the end or not.
    pub(super) fn concluded(&mut self) {
        if let Some(Ending::Concluding { end, .. }) = &self.ending {
            self.ending = Some(Ending::Concluded(Box::new(end.report.clone())));
        }
    }
}
