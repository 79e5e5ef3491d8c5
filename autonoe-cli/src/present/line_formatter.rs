//! `LineFormatter`, which formats the events of a run as lines for a log.

use autonoe_app::text::{Activity, lines};
use autonoe_core::{RunEvent, RunEventKind};

/// Formats the events of a run as lines.
#[derive(Debug, Default)]
pub(crate) struct LineFormatter {
    activity: Activity,
}

impl LineFormatter {
    /// Returns the lines of an event.
    pub(crate) fn format(&mut self, event: &RunEvent<'_>) -> Vec<String> {
        match &event.kind {
            RunEventKind::SessionStarted { .. } => self.activity = Activity::default(),
            RunEventKind::Agent { stream } => self.activity.observe(stream),
            // Each turn of a task is a flow with one session, so its start is noise.
            RunEventKind::FlowStarted { .. } => return Vec::new(),
            _ => {}
        }
        let lines = lines(event, self.activity.tools());
        lines.into_iter().map(|line| line.text).collect()
    }
}
