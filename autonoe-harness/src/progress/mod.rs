//! Progress of an agent, measured per iteration.

mod detector;
mod head_commit;
mod project_files;
mod signal;
mod snapshot;

pub(crate) use detector::ledger_counts;
pub use detector::{Novelty, ProgressDetector};
pub use project_files::ProjectFiles;
pub use signal::{ProgressSignal, ProgressWeights};
pub use snapshot::{SnapshotLimits, TreeSnapshot};
