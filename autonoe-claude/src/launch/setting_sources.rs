//! Which settings files count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which settings files count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SettingSources {
    /// None: no settings, no `CLAUDE.md`, no `.mcp.json`.
    #[default]
    None,
    /// Those of the project. Its hooks, its environment and its `CLAUDE.md` then apply.
    Project,
}

impl SettingSources {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Project => "project",
        }
    }
}
