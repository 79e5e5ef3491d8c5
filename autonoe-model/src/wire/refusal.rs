//! An answer that is no success.

use std::time::Duration;

/// An answer of a provider that is no success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status.
    pub(crate) status: u16,
    /// What `retry-after` asks for, already counted from now.
    pub(crate) retry_after: Option<Duration>,
    /// The provider's name of the call.
    pub(crate) request_id: Option<String>,
    /// Its headers, by names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// What it says; cut if it is long.
    pub(crate) body: String,
}
