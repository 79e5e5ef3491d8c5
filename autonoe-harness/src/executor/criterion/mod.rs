//! Success criteria of tasks, as serialisable data.

mod command;
mod composite;
mod file;
mod port;
mod tests_criterion;
mod verification;

pub use command::CommandCriterion;
pub use composite::{AllOf, AnyOf};
pub use file::FileCriterion;
pub use port::{CRITERION_PORT, Criterion, JudgeCriterion, SuccessCriteria, VerificationContext};
pub use tests_criterion::TestsCriterion;
pub use verification::Verification;
