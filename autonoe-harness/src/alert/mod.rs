//! Alerts: events that need attention, their logs and their sinks.

mod log;
mod manager;
mod value;

pub use log::{AlertHistory, AlertLog, UnreadableAlert};
pub use manager::AlertManager;
pub use value::{Alert, AlertSink, Severity};
