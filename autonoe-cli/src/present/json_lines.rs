//! Shows a run to another program.

use std::io::{self, Write};

use autonoe_core::{RunEvent, RunObserver};

/// Writes one event per line to standard output, as it happens.
#[derive(Debug)]
pub(crate) struct JsonLines;

impl RunObserver for JsonLines {
    fn on_event(&self, event: &RunEvent<'_>) {
        let line = match serde_json::to_string(event) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!(%error, "an event cannot be written as JSON");
                return;
            }
        };
        let mut stdout = io::stdout().lock();
        // A reader that went away does not end the run.
        let _ = writeln!(stdout, "{line}");
        let _ = stdout.flush();
    }
}
