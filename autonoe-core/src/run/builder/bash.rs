//! [`Bash`], the validator of the Bash commands of a run.

use std::sync::Arc;

use autonoe_security::{BashSecurity, BashValidator, Policy, PolicyConfig, PolicyScope};

use crate::gate::SymlinksOnDisk;
use crate::run::build_error::BuildError;

/// The source of the validator of a run's Bash commands.
pub(super) enum Bash {
    /// A policy for the final mode and directories of the run.
    Policy(Box<PolicyConfig>),
    Validator(Arc<dyn BashSecurity>),
}

impl Bash {
    /// Returns the validator for a run of `scope`.
    pub(super) fn validator(
        &self,
        scope: PolicyScope,
    ) -> Result<Arc<dyn BashSecurity>, BuildError> {
        match self {
            Self::Validator(validator) => {
                validator
                    .check_scope(&scope)
                    .map_err(|mismatch| BuildError::BashScope(Box::new(mismatch)))?;
                Ok(validator.clone())
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
