//! Single sessions in a project, for an engine elsewhere.

mod concluding;
mod fencing;
mod host;
mod known;
mod performing;
mod recording;

pub use host::ProjectSessionHost;
