//! How far an agent came on in an iteration.

mod detector;
mod ledger;
mod signal;
mod snapshot;
mod text;

pub use detector::ProgressDetector;
pub use signal::{ProgressSignal, ProgressWeights};
pub use snapshot::{SnapshotLimits, TreeSnapshot};

pub(crate) use ledger::passed_share;
