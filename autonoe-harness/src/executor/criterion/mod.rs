//! Success criteria of tasks, as serialisable data.

mod command;
mod composite;
mod file;
mod port;
mod success_criteria;
mod tests_criterion;
mod verification;

pub use command::CommandCriterion;
pub use composite::{AllOf, AnyOf};
pub use file::FileCriterion;
pub use port::{CRITERION_PORT, Criterion, VerificationContext};
pub(super) use success_criteria::criteria_schema;
pub use success_criteria::{JudgeCriterion, SuccessCriteria};
pub use tests_criterion::TestsCriterion;
pub use verification::Verification;
