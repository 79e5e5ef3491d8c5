//! The outer sandbox from a configuration file.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SandboxNetwork, Walls};

/// How the outer sandbox around a program is made. Everything can be left out.
///
/// ```
/// use autonoe_backend::SandboxSpec;
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
    /// Whether the program has a network.
    pub network: SandboxNetwork,
    /// What can be written beside the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<PathBuf>,
    /// What can be read although it is in `/tmp`, in `/run` or hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<PathBuf>,
    /// What the program does not get to see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PathBuf>,
}

impl SandboxSpec {
    /// Changes `walls` to what is said here.
    pub fn apply(self, walls: &mut Walls) {
        if self.bubblewrap.is_some() {
            walls.bubblewrap = self.bubblewrap;
        }
        walls.network = self.network;
        walls.writable.extend(self.writable);
        walls.readable.extend(self.readable);
        walls.hidden.extend(self.hidden);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_file_says_is_in_the_walls_and_what_it_leaves_out_stays() {
        let spec = json!({
            "network": "off", "writable": ["/w"], "readable": ["/r"], "hidden": ["/h"],
        });
        let spec: SandboxSpec = serde_json::from_value(spec).expect("a spec");
        let mut walls = Walls::new(Some("/usr/bin/bwrap".into()));

        spec.apply(&mut walls);

        let mut expected = Walls::new(Some("/usr/bin/bwrap".into()));
        expected.network = SandboxNetwork::Off;
        expected.writable = vec!["/w".into()];
        expected.readable = vec!["/r".into()];
        expected.hidden = vec!["/h".into()];
        assert_eq!(walls, expected);
        let named: SandboxSpec =
            serde_json::from_value(json!({"bubblewrap": "/opt/bwrap"})).expect("a spec");
        named.apply(&mut walls);
        assert_eq!(walls.bubblewrap, Some("/opt/bwrap".into()));
    }

    #[test]
    fn a_mistake_is_an_error() {
        for mistake in [json!({"network": "maybe"}), json!({"hide": []})] {
            assert!(serde_json::from_value::<SandboxSpec>(mistake).is_err());
        }
    }
}
