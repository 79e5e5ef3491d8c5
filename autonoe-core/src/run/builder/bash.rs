//! The judge of the Bash commands of a run.

use std::sync::Arc;

use autonoe_security::{BashSecurity, BashValidator, Policy, PolicyConfig, PolicyScope};

use crate::guard::SymlinksOnDisk;
use crate::run::build_error::BuildError;

/// What judges the Bash commands of a run.
pub(super) enum Bash {
    /// A policy for the mode and the directories that the run has in the end.
    Policy(Box<PolicyConfig>),
    Judge(Arc<dyn BashSecurity>),
}

impl Bash {
    /// Returns the judge for a run of `scope`.
    pub(super) fn judge(&self, scope: PolicyScope) -> Result<Arc<dyn BashSecurity>, BuildError> {
        match self {
            Self::Judge(judge) => {
                judge
                    .check_scope(&scope)
                    .map_err(|mismatch| BuildError::BashScope(Box::new(mismatch)))?;
                Ok(judge.clone())
            }
            Self::Policy(config) => {
                let policy = Policy::new(scope, (**config).clone())?;
                Ok(Arc::new(
                    BashValidator::new(policy).with_symlinks(SymlinksOnDisk),
                ))
            }
        }
    }
}
