//! Single sessions in a project, for an engine elsewhere.

mod concluding;
mod fencing;
mod host;
mod known;
mod performing;
mod recorded_ledger;
mod recording;

pub use host::ProjectSessionHost;
