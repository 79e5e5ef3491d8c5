//! Carries out what a strategy decides: many runs on one engine.

mod coordinator;
mod course;
mod event;
mod member;
mod outcome;
mod purse;
mod report;
mod watch;

pub use coordinator::Coordinator;
pub use event::{FleetEvent, FleetEventKind, FleetObserver};
pub use member::{MemberJob, MemberSpec};
pub use report::{CoordinationError, CutShort, FleetReport};
