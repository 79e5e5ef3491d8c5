//! The outer sandbox around an agent.

use std::path::{Path, PathBuf};

use autonoe_core::{AgentError, AgentErrorKind, OuterSandbox, Sandbox, SessionSpec};
use autonoe_process::{Network, OsSandbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the outer sandbox around an agent is made, when a run has one.
///
/// In it the project can be written, and what the session needs for itself; everything else can
/// only be read. The `.autonoe` folder of the project cannot be written: its ledger is changed
/// through our tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Walls {
    /// Where bubblewrap is; `None` if there is none.
    pub bubblewrap: Option<PathBuf>,
    /// Whether the agent has a network.
    pub network: SandboxNetwork,
    /// What can be written beside the project.
    pub writable: Vec<PathBuf>,
    /// What can be read although it is in `/tmp`, in `/run` or hidden.
    pub readable: Vec<PathBuf>,
    /// What the agent does not get to see.
    pub hidden: Vec<PathBuf>,
}

/// Whether an agent in an outer sandbox has a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SandboxNetwork {
    /// It has the one of this machine: its model and our tools are behind it.
    #[default]
    Shared,
    /// It has none: for an agent with a model of its own and no tools of ours.
    Off,
}

impl Walls {
    /// The name of an [`OuterSandbox`] that this backend makes.
    pub const BUBBLEWRAP: &str = "bubblewrap";

    /// Makes walls by the bubblewrap at a path, or none.
    pub fn new(bubblewrap: Option<PathBuf>) -> Self {
        Self {
            bubblewrap,
            network: SandboxNetwork::default(),
            writable: Vec::new(),
            readable: Vec::new(),
            hidden: Vec::new(),
        }
    }

    /// Returns the outer sandbox to give to a run, so that it is made here.
    pub fn outer_sandbox() -> OuterSandbox {
        OuterSandbox {
            name: Self::BUBBLEWRAP.to_owned(),
        }
    }

    /// Says whether the agent of `spec` is to be started in a sandbox by us.
    ///
    /// # Errors
    ///
    /// A sandbox is asked for and there is none.
    pub(crate) fn are_needed(&self, spec: &SessionSpec) -> Result<bool, AgentError> {
        match (&spec.outer_sandbox, spec.sandbox) {
            (Some(outer), _) if outer.name == Self::BUBBLEWRAP => match self.bubblewrap {
                Some(_) => Ok(true),
                None => Err(AgentError::new(
                    AgentErrorKind::NotAvailable,
                    "the agent is to run in bubblewrap, and that is not there",
                )
                .with_remedy("install bubblewrap, or say where it is")),
            },
            // Whoever embeds the run has made another one around all of it.
            (Some(_), _) | (None, Sandbox::Off) => Ok(false),
            (None, Sandbox::Required) => Err(AgentError::new(
                AgentErrorKind::Unsupported,
                "the agent has no sandbox of its own; run it in an outer one",
            )),
        }
    }

    /// Makes the sandbox of an agent that works in `project` and keeps its files in `own`.
    pub(crate) fn around(&self, project: &Path, own: &[PathBuf]) -> Option<OsSandbox> {
        let mut sandbox = OsSandbox::new(self.bubblewrap.clone()?)
            .writable(project)
            .network(match self.network {
                SandboxNetwork::Shared => Network::Shared,
                SandboxNetwork::Off => Network::Off,
            });
        let ledger = project.join(".autonoe");
        if ledger.exists() {
            sandbox = sandbox.read_only(ledger);
        }
        let writable = own.iter().chain(&self.writable);
        let sandbox = writable.fold(sandbox, OsSandbox::writable);
        let sandbox = self.readable.iter().fold(sandbox, OsSandbox::read_only);
        Some(self.hidden.iter().fold(sandbox, OsSandbox::hidden))
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{Gate, Grants, Places, RunId, SessionKey, Toolbox};

    use super::*;

    fn spec(sandbox: Sandbox, outer: Option<&str>) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(Places::new("/p"), Grants::none());
        let mut spec = SessionSpec::new(key, "/p", gate, Toolbox::new([]));
        spec.sandbox = sandbox;
        spec.outer_sandbox = outer.map(|name| OuterSandbox {
            name: name.to_owned(),
        });
        spec
    }

    #[test]
    fn a_session_is_never_less_guarded_than_was_asked() {
        use Sandbox::{Off, Required};
        let (with, without) = (Some("/usr/bin/bwrap"), None);
        for (bubblewrap, sandbox, outer, expected) in [
            (with, Required, Some("bubblewrap"), Some(true)),
            (with, Off, Some("bubblewrap"), Some(true)),
            (without, Required, Some("bubblewrap"), None),
            (without, Off, Some("bubblewrap"), None),
            (without, Required, Some("a container"), Some(false)),
            (with, Required, None, None),
            (with, Off, None, Some(false)),
        ] {
            let walls = Walls::new(bubblewrap.map(PathBuf::from));

            let needed = walls.are_needed(&spec(sandbox, outer));

            assert_eq!(
                needed.ok(),
                expected,
                "{bubblewrap:?} {sandbox:?} {outer:?}"
            );
        }
    }
}
