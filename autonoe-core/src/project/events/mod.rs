//! What observers of sessions are told, in `.autonoe/events/`, for who watches from elsewhere.

mod bounded;
mod pages;
mod stream;
mod writer;

pub use pages::{EVENTS_JOB, EventsPage};
pub use writer::EventsFile;
