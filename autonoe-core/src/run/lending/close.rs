//! The end of a flow.

use serde_json::Value;

use super::OpenSessions;
use crate::domain::{Failure, FlowExit, FlowReport};
use crate::port::RunEventKind;
use crate::run::inbox::Inbox;
use crate::run::{Durability, JournalLine};

impl OpenSessions {
    /// Ends the flow: writes its end down, tells observers, and reports.
    ///
    /// `result` is what the flow itself has to say, in its own words, for the journal.
    pub fn close(self, exit: FlowExit, result: Value) -> FlowReport {
        let setting = self.setting.clone();
        self.told(exit, |report| {
            let ended = JournalLine::FlowEnded {
                report: report.clone(),
                result,
            };
            if let Err(error) = setting.write_down(&ended, Durability::Synced) {
                setting.warn(&format!(
                    "the end of the flow is not in the journal: {}",
                    Failure::from(&error)
                ));
            }
        })
    }

    /// Leaves the flow as an interrupted one: informs observers and reports, and records nothing.
    /// It can be resumed.
    pub fn break_off(self, exit: FlowExit) -> FlowReport {
        self.report(exit)
    }

    /// Reports, for a flow that could not begin: nothing of it is written down, and it can be tried
    /// again later.
    pub(super) fn report(self, exit: FlowExit) -> FlowReport {
        self.told(exit, |_| {})
    }

    fn told(mut self, exit: FlowExit, write_down: impl FnOnce(&FlowReport)) -> FlowReport {
        let setting = self.setting.clone();
        while let Some(request) = setting.control.waiting_request() {
            self.messages.take(request);
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
        // Who has several flows under one control tells it to the next.
        self.messages.put_back(&setting.control);
        report
    }
}
