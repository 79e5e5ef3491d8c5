//! Completion conditions at run time.

mod build;
mod composite;
mod deliverables;
mod external;
mod rules;

pub use self::build::{CompletionDependencies, build_completion};
pub use self::deliverables::LedgerSource;
pub use self::external::{ExternalStates, StateProbe, probe_fn};
