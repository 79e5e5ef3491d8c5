//! The script that is judged, and what it is judged by.

use super::report::Report;
use super::scope::Scope;
use crate::ResolveSymlinks;
use crate::policy::Policy;

/// What every check of one script needs.
pub(crate) struct Context<'w, 's> {
    pub(crate) policy: &'w Policy,
    pub(crate) scope: &'w Scope<'s>,
    pub(crate) report: &'w Report,
    pub(crate) links: Option<&'w dyn ResolveSymlinks>,
    /// The number of wrappers around this script: `bash -c`, each of them a text of its own.
    pub(crate) depth: usize,
}
