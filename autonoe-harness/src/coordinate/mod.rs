//! Carries out what a strategy decides: many runs on one engine.

mod coordinator;
mod course;
mod driving;
mod event;
mod fleet_spans;
mod member;
mod outcome;
mod purse;
mod report;
mod runner;
mod strategy_run;
mod watch;

pub use coordinator::Coordinator;
pub use course::{FleetCourse, FleetStep};
pub use event::{FleetEvent, FleetEventKind, FleetObserver};
pub use fleet_spans::FleetSpans;
pub use member::{MemberJob, MemberSpec};
pub use report::{CoordinationError, CutShort, FleetReport};
pub use runner::StrategyRunner;
pub use strategy_run::{STRATEGY_JOB, StrategyRun};
