//! [`PathGuard`], the guards that judge the paths of a call with one shared resolution.

use super::{AutonoeGuard, FileScope};
use crate::gate::HookDecision;
use crate::gate::lexical_path::resolver::Resolver;
use crate::tool::ToolCall;

/// A guard that resolves the paths of a call.
///
/// The gate lets these guards share one [`Resolver`], so that they judge the same state of the file
/// system with few system calls.
#[derive(Debug)]
pub enum PathGuard<'a> {
    /// Limits the files of a call.
    FileScope(&'a FileScope),
    /// Protects the state of runs and fleets.
    Autonoe(&'a AutonoeGuard),
}

impl PathGuard<'_> {
    /// Decides about `call`, with the paths that `resolver` has resolved for it.
    pub(crate) fn judge(&self, call: &ToolCall, resolver: &Resolver) -> HookDecision {
        let verdict = match self {
            Self::FileScope(guard) => guard.evaluate(call, resolver),
            Self::Autonoe(guard) => guard.evaluate(call, resolver),
        };
        match verdict {
            Ok(()) => HookDecision::Pass,
            Err(reason) => HookDecision::block(reason),
        }
    }
}
