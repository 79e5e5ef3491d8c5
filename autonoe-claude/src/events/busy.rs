//! What the program does while it says nothing.

use autonoe_core::{Events, ProgressNote};

use crate::wire::Message;

/// Shows people what the program does while it says nothing: it compacts the conversation.
///
/// ```
/// use autonoe_claude::events::Busy;
/// use autonoe_claude::wire::Line;
/// use autonoe_core::Events;
///
/// let mut busy = Busy::new(Events::silent());
/// let line = Line::from_text(r#"{"type":"system","subtype":"status","status":"compacting"}"#)?;
///
/// busy.observe(&line.read());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Busy {
    events: Events,
    note: Option<ProgressNote>,
}

impl Busy {
    /// Shows it to those who watch a session through `events`.
    pub fn new(events: Events) -> Self {
        Self { events, note: None }
    }

    /// Takes note of `message`.
    pub fn observe(&mut self, message: &Message<'_>) {
        match message {
            Message::Status(status) if status.status.as_deref() == Some("compacting") => {
                let show = || self.events.progress("compacting the conversation");
                let _ = self.note.get_or_insert_with(show);
            }
            // Whatever it says of itself next, and at the latest the end of the turn.
            Message::Status(_) | Message::Result(_) => self.note = None,
            _ => {}
        }
    }
}
