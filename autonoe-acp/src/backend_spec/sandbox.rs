//! The outer sandbox from a configuration file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::launch::{SandboxNetwork, Walls};

/// How the outer sandbox around an agent is made. Everything can be left out.
///
/// ```
/// use autonoe_acp::SandboxSpec;
///
/// let spec: SandboxSpec = serde_json::from_str(r#"{"hidden": ["/home/ada/.ssh"]}"#)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct SandboxSpec {
    /// Where bubblewrap is; without it, `bwrap` is looked for by `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bubblewrap: Option<PathBuf>,
    /// Whether the agent has a network.
    pub network: SandboxNetwork,
    /// What can be written beside the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<PathBuf>,
    /// What can be read although it is in `/tmp`, in `/run` or hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<PathBuf>,
    /// What the agent does not get to see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PathBuf>,
}

impl SandboxSpec {
    /// Changes `walls` to what is said here.
    pub(super) fn apply(&self, walls: &mut Walls) {
        if let Some(bubblewrap) = &self.bubblewrap {
            walls.bubblewrap = Some(bubblewrap.clone());
        }
        walls.network = self.network;
        walls.writable.extend_from_slice(&self.writable);
        walls.readable.extend_from_slice(&self.readable);
        walls.hidden.extend_from_slice(&self.hidden);
    }
}
