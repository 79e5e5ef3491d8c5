//! How far an agent came on in an iteration.

mod detector;
mod head_commit;
mod ledger;
mod novelty;
mod project_files;
mod signal;
mod snapshot;
mod text;

pub use detector::ProgressDetector;
pub use novelty::Novelty;
pub use project_files::ProjectFiles;
pub use signal::{ProgressSignal, ProgressWeights};
pub use snapshot::{SnapshotLimits, TreeSnapshot};

pub(crate) use ledger::ledger_counts;
