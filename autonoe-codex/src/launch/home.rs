//! Where the program finds its login and its conversations.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the program finds its login and its conversations.
///
/// Every session gets a home folder of its own (`CODEX_HOME`) with a configuration that Autonoe
/// writes: no `config.toml` of a person counts, because it could start servers and hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CodexHome {
    /// Nothing comes from anywhere, and only what
    /// [`SessionSpec::conversations`](autonoe_core::SessionSpec::conversations) names is kept. The
    /// model needs a [provider](super::CodexProvider) then.
    #[default]
    PerSession,
    /// The login (`auth.json`) and the conversations (`sessions`) of this folder are those of the
    /// session. `CODEX_HOME=<folder> codex login` makes the login.
    Kept(PathBuf),
}
