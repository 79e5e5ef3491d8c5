//! Alerts: events that need attention, their logs and their sinks.

mod delivery;
mod error;
mod log;
mod manager;
mod sink;
mod value;

pub use error::AlertError;
pub use log::{AlertHistory, AlertLog, UnreadableAlert};
pub use manager::AlertManager;
pub use sink::AlertSink;
pub use value::{Alert, Severity};
