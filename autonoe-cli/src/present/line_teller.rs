//! The lines of a run, for whoever writes them elsewhere than on a screen.

use autonoe_core::RunEventKind;

use super::activity::Activity;
use super::lines::line;

/// Says what people follow of a run, line by line.
#[derive(Debug, Default)]
pub(crate) struct LineTeller {
    activity: Activity,
}

impl LineTeller {
    /// Says what there is to say of an event.
    pub(crate) fn tell(&mut self, event: &RunEventKind<'_>) -> Option<String> {
        match event {
            RunEventKind::SessionStarted { .. } => self.activity = Activity::default(),
            RunEventKind::Agent { stream } => self.activity.observe(stream),
            // Each turn of a task is a flow of one session.
            RunEventKind::FlowStarted { .. } => return None,
            _ => {}
        }
        line(event, self.activity.tools()).map(|line| line.text)
    }
}
