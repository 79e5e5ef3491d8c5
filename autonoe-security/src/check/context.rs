//! The script under judgement and the policy that applies to it.

use super::report::Report;
use super::scope::Scope;
use crate::ResolveSymlinks;
use crate::policy::Policy;

/// Context shared by all checks of one script.
pub(crate) struct Context<'w, 's> {
    pub(crate) policy: &'w Policy,
    pub(crate) scope: &'w Scope<'s>,
    pub(crate) report: &'w Report,
    pub(crate) links: Option<&'w dyn ResolveSymlinks>,
    /// The number of wrappers around this script: `bash -c`, each with a separate text.
    pub(crate) depth: usize,
}
