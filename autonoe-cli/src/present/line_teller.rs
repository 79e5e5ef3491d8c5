//! The lines of a run, for whoever writes them elsewhere than on a screen.

use autonoe_core::{RunEvent, RunEventKind};

use super::activity::Activity;
use super::lines::lines;

/// Says what people follow of a run, line by line.
#[derive(Debug, Default)]
pub(crate) struct LineTeller {
    activity: Activity,
}

impl LineTeller {
    /// Returns the lines of an event.
    pub(crate) fn tell(&mut self, event: &RunEvent<'_>) -> Vec<String> {
        match &event.kind {
            RunEventKind::SessionStarted { .. } => self.activity = Activity::default(),
            RunEventKind::Agent { stream } => self.activity.observe(stream),
            // Each turn of a task is a flow of one session.
            RunEventKind::FlowStarted { .. } => return Vec::new(),
            _ => {}
        }
        let lines = lines(event, self.activity.tools());
        lines.into_iter().map(|line| line.text).collect()
    }
}
