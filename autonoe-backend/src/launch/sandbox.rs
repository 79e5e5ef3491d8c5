//! [`SandboxConfig`], the configuration of the outer sandbox around a program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use autonoe_core::agent::{AgentErrorKind, ProbeFinding};
use autonoe_core::{AgentError, SessionSpec};
use autonoe_process::{OsSandbox, SandboxError, find_program};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sandbox_trial::SandboxTrial;
use crate::probe::OUTER_SANDBOX_REMEDY;

/// Configuration of the outer sandbox around a program. All fields are optional.
///
/// The sandbox is created only if the run sets [`OuterSandbox::bubblewrap`]. If it cannot be
/// created, nothing is started. Inside, the project and the session's own files are writable, and
/// everything else is read-only. The `.autonoe` folder of the project is read-only as well: its
/// ledger changes only through our tools.
///
/// ```
/// use autonoe_backend::{SandboxNetwork, SandboxConfig};
///
/// let mut sandbox_config = SandboxConfig::new(Some("/usr/bin/bwrap".into()));
/// sandbox_config.hidden.push("/home/ada/.ssh".into());
///
/// assert_eq!(sandbox_config.network, SandboxNetwork::Shared);
///
/// let in_a_file: SandboxConfig = serde_json::from_str(r#"{"hidden": ["/home/ada/.ssh"]}"#)?;
/// assert_eq!(in_a_file.hidden, sandbox_config.hidden);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// [`OuterSandbox::bubblewrap`]: autonoe_core::agent::OuterSandbox::bubblewrap
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[schemars(rename = "SandboxSpec")]
#[schemars(
    description = "Configuration of the outer sandbox around a program. All fields are optional."
)]
#[non_exhaustive]
pub struct SandboxConfig {
    /// The path of bubblewrap; no sandbox can be created without it. If a file does not set it,
    /// [`ProgramOptions::apply`](crate::ProgramOptions::apply) keeps the `bwrap` found on `PATH`.
    #[schemars(description = "The path of bubblewrap. The default is the `bwrap` on `PATH`.")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bubblewrap: Option<PathBuf>,
    /// The network access of the program.
    pub network: SandboxNetwork,
    /// Paths that are writable beside the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<PathBuf>,
    /// Paths that stay readable although they are in `/tmp`, in `/run` or hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<PathBuf>,
    /// Paths that are hidden from the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PathBuf>,
    #[serde(skip)]
    pub(super) trial: SandboxTrial,
}

/// Network access of a program in an outer sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SandboxNetwork {
    /// The network of this machine, through which the program reaches its model and our tools.
    #[default]
    Shared,
    /// No network, not even to the model: for a program that needs no other service.
    Off,
}

impl SandboxConfig {
    /// Checks whether the outer sandbox can be created here, for a probe of the backend.
    pub fn probe(&self) -> ProbeFinding {
        const NAME: &str = "sandbox";
        let Some(bubblewrap) = &self.bubblewrap else {
            return ProbeFinding::problem(
                NAME,
                "there is no program `bwrap` on PATH",
                "install it (apt install bubblewrap)",
            );
        };
        match self.trial.check(bubblewrap, &OsSandbox::new(bubblewrap)) {
            Ok(()) => ProbeFinding::good(NAME, "bwrap is installed and works"),
            Err(error) => ProbeFinding::problem(NAME, error.to_string(), error.remedy()),
        }
    }

    /// Creates a configuration that uses the bubblewrap at a path, or none.
    pub fn new(bubblewrap: Option<PathBuf>) -> Self {
        Self {
            bubblewrap,
            ..Self::default()
        }
    }

    /// Creates a configuration that uses the `bwrap` of the `PATH` in `environment`, if there is
    /// one.
    pub fn found_on_path(environment: &BTreeMap<OsString, OsString>) -> Self {
        let path = environment.get(OsStr::new("PATH"));
        Self::new(path.and_then(|path| find_program("bwrap", path)))
    }

    /// Checks whether such a sandbox can be created here, with a trivial program in it.
    ///
    /// The first check takes some milliseconds. Later ones only check that bubblewrap has not
    /// changed. Clones share the result.
    ///
    /// # Errors
    ///
    /// The sandbox cannot be created. The error has a remedy.
    pub async fn check(&self) -> Result<(), AgentError> {
        self.check_sandbox(OsSandbox::new(self.bubblewrap()?)).await
    }

    /// Returns the remedy for a program that has no sandbox of its own.
    pub async fn remedy(&self) -> String {
        let missing = self.check().await.err();
        let remedy = missing.as_ref().and_then(AgentError::remedy);
        remedy.unwrap_or(OUTER_SANDBOX_REMEDY).to_owned()
    }

    /// Returns whether Autonoe must start the program of `spec` in a sandbox.
    ///
    /// [`launch`](Self::launch) refuses a session that requires a sandbox and gets none.
    ///
    /// # Errors
    ///
    /// The session requires bubblewrap, which is not installed.
    pub fn is_needed(&self, spec: &SessionSpec) -> Result<bool, AgentError> {
        match &spec.outer_sandbox {
            Some(outer) if outer.is_bubblewrap() => self.bubblewrap().map(|_| true),
            // The embedding program created any other sandbox.
            Some(_) | None => Ok(false),
        }
    }

    pub(super) fn bubblewrap(&self) -> Result<&Path, AgentError> {
        self.bubblewrap.as_deref().ok_or_else(|| {
            AgentError::new(
                AgentErrorKind::NotAvailable,
                "the agent must run in bubblewrap, which is not installed",
            )
            .with_remedy("install bubblewrap, or set `sandbox.bubblewrap` to its path")
        })
    }
}

/// Converts a sandbox failure to an error with a remedy.
pub(super) fn sandbox_error(error: SandboxError) -> AgentError {
    let remedy = error.remedy();
    let message = "the agent must run in bubblewrap, which does not work on this system";
    let failed = AgentError::new(AgentErrorKind::NotAvailable, message).with_source(error);
    failed.with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;
    use autonoe_core::agent::{OuterSandbox, Sandbox};
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::SessionKey;
    use autonoe_core::tool::Toolbox;
    use serde_json::json;

    use super::*;

    fn spec(sandbox: Sandbox, outer: Option<&str>) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/p"), Grants::none());
        let mut spec = SessionSpec::new(key, "/p", gate, Toolbox::new([]));
        spec.sandbox = sandbox;
        spec.outer_sandbox = outer.map(|name| OuterSandbox {
            name: name.to_owned(),
        });
        spec
    }

    #[test]
    fn bubblewrap_is_required_whatever_else_the_session_sets() {
        use AgentErrorKind::NotAvailable;
        use Sandbox::{Off, Required};
        let (bwrap, none) = (Some("/usr/bin/bwrap"), None);
        let (bubblewrapped, other) = (Some("bubblewrap"), Some("a container"));
        for (bubblewrap, sandbox, outer, expected) in [
            (bwrap, Required, bubblewrapped, Ok(true)),
            (bwrap, Off, bubblewrapped, Ok(true)),
            (none, Required, bubblewrapped, Err(NotAvailable)),
            (none, Off, bubblewrapped, Err(NotAvailable)),
            // The embedding program has created another sandbox around everything.
            (bwrap, Required, other, Ok(false)),
            (none, Required, other, Ok(false)),
            (none, Off, other, Ok(false)),
            (bwrap, Required, None, Ok(false)),
            (bwrap, Off, None, Ok(false)),
        ] {
            let sandbox_config = SandboxConfig::new(bubblewrap.map(PathBuf::from));
            let spec = spec(sandbox, outer);

            let needed = sandbox_config.is_needed(&spec);

            let needed = needed.map_err(|error| error.kind());
            assert_eq!(needed, expected, "{bubblewrap:?} {sandbox:?} {outer:?}");
        }
    }

    #[tokio::test]
    async fn a_missing_sandbox_is_reported_with_a_remedy() {
        for bubblewrap in [None, Some("/nowhere/bwrap".into())] {
            let checked = SandboxConfig::new(bubblewrap).check().await;

            let error = checked.expect_err("there is none");

            assert_eq!(error.kind(), AgentErrorKind::NotAvailable);
            assert!(error.remedy().is_some(), "{error}");
        }
    }

    #[test]
    fn a_mistake_is_an_error() {
        for mistake in [json!({"network": "maybe"}), json!({"hide": []})] {
            assert!(serde_json::from_value::<SandboxConfig>(mistake).is_err());
        }
    }
}
