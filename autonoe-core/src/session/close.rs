//! Ends a flow and returns its report.

use serde_json::Value;

use super::OpenSessions;
use crate::event::Failure;
use crate::event::RunEventKind;
use crate::run::inbox::Inbox;
use crate::run::{Durability, JournalLine};
use crate::run::{FlowExit, FlowReport};

impl OpenSessions {
    /// Ends the flow: records its end, notifies observers, and returns the report.
    ///
    /// `result` is the flow's own result, in its own format, for the journal.
    pub fn close(self, exit: FlowExit, result: Value) -> FlowReport {
        let setting = self.context.clone();
        self.finish(exit, |report| {
            let ended = JournalLine::FlowEnded {
                report: report.clone(),
                result,
            };
            if let Err(error) = setting.record(&ended, Durability::Synced) {
                setting.warn(&format!(
                    "the end of the flow is not in the journal: {}",
                    Failure::from(&error)
                ));
            }
        })
    }

    /// Leaves the flow interrupted: notifies observers and returns the report, but records nothing.
    /// The flow can be resumed.
    pub fn interrupt(self, exit: FlowExit) -> FlowReport {
        self.report(exit)
    }

    /// Returns the report of a flow that could not start. Nothing is recorded, so the flow can be
    /// tried again.
    pub(super) fn report(self, exit: FlowExit) -> FlowReport {
        self.finish(exit, |_| {})
    }

    fn finish(mut self, exit: FlowExit, write_down: impl FnOnce(&FlowReport)) -> FlowReport {
        let setting = self.context.clone();
        while let Some(request) = setting.control.try_next_request() {
            self.messages.receive(request);
        }
        tracing::info!(run = %setting.run, exit = exit.code(), "flow ended");
        if let FlowExit::BudgetExceeded { budget } = exit {
            setting.events.emit(RunEventKind::BudgetSpent { budget });
        }
        let spent = self.spent();
        let report = FlowReport {
            run: setting.run.clone(),
            flow: self.start.flow,
            exit,
            sessions: self.sessions,
            elapsed: spent.time,
            cost: spent.cost,
            tokens: spent.tokens,
            undelivered_messages: self.messages.undelivered(),
        };
        write_down(&report);
        setting
            .events
            .emit(RunEventKind::FlowEnded { report: &report });
        // If several flows share one control, the next flow delivers the messages.
        self.messages.return_to(&setting.control);
        report
    }
}
