//! Coordination of fleets: a pure state machine, and the coordinator that drives it on an engine.

mod coordinator;
mod driver;
mod event;
mod fleet_spans;
mod machine;
mod member;
mod report;
mod strategy_run;

pub use coordinator::Coordinator;
pub use event::{FleetEvent, FleetEventKind, FleetObserver};
pub use fleet_spans::FleetSpans;
#[cfg(feature = "sqlite")]
pub(crate) use machine::is_fleet_name;
pub use machine::{FleetMachine, FleetStep};
pub use member::{MemberJob, MemberSpec};
pub use report::{CoordinationError, CutShort, FleetReport};
pub use strategy_run::{STRATEGY_JOB, StrategyRun};
