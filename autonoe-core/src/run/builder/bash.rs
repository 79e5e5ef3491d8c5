//! [`Bash`], the judge of the Bash commands of a run.

use std::sync::Arc;

use autonoe_security::{BashSecurity, BashValidator, Policy, PolicyConfig, PolicyScope};

use crate::gate::SymlinksOnDisk;
use crate::run::build_error::BuildError;

/// The source of the judge of a run's Bash commands.
pub(super) enum Bash {
    /// A policy for the final mode and directories of the run.
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
