//! The outer sandbox around a program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use autonoe_core::{AgentError, AgentErrorKind, ProbeFinding, SessionSpec};
use autonoe_process::{OsSandbox, SandboxError, find_program};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::claims::OUTER_SANDBOX_REMEDY;

/// How the outer sandbox around a program is made, for a run that has one.
///
/// It is made if, and only if, the run says [`OuterSandbox::bubblewrap`]; where that is not possible,
/// nothing is started. In it the project can be written, and what the session needs for itself;
/// everything else can only be read. The `.autonoe` folder of the project cannot be written: its
/// ledger is changed through our tools.
///
/// ```
/// use autonoe_backend::{SandboxNetwork, Walls};
///
/// let mut walls = Walls::new(Some("/usr/bin/bwrap".into()));
/// walls.hidden.push("/home/ada/.ssh".into());
///
/// assert_eq!(walls.network, SandboxNetwork::Shared);
/// ```
///
/// [`OuterSandbox::bubblewrap`]: autonoe_core::OuterSandbox::bubblewrap
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Walls {
    /// Where bubblewrap is; `None` if there is none.
    pub bubblewrap: Option<PathBuf>,
    /// Whether the program has a network.
    pub network: SandboxNetwork,
    /// What can be written beside the project.
    pub writable: Vec<PathBuf>,
    /// What can be read although it is in `/tmp`, in `/run` or hidden.
    pub readable: Vec<PathBuf>,
    /// What the program does not get to see.
    pub hidden: Vec<PathBuf>,
}

/// Whether a program in an outer sandbox has a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SandboxNetwork {
    /// It has the one of this machine: its model and our tools are behind it.
    #[default]
    Shared,
    /// It has none, not even to ask its model: for a program that needs nobody.
    Off,
}

impl Walls {
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
        match OsSandbox::new(bubblewrap).check() {
            Ok(()) => ProbeFinding::good(NAME, "bwrap is there and works"),
            Err(error) => ProbeFinding::problem(NAME, error.to_string(), error.remedy()),
        }
    }

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

    /// Makes walls by the bubblewrap that is found by `PATH` in `environment`, if there is one.
    pub fn found_on_path(environment: &BTreeMap<OsString, OsString>) -> Self {
        let path = environment.get(OsStr::new("PATH"));
        Self::new(path.and_then(|path| find_program("bwrap", path)))
    }

    /// Tries whether such a sandbox can be made here, with nothing in it.
    ///
    /// It takes some milliseconds and blocks the thread.
    ///
    /// # Errors
    ///
    /// It cannot be made; the remedy says what to do.
    pub fn check(&self) -> Result<(), AgentError> {
        OsSandbox::new(self.bubblewrap()?)
            .check()
            .map_err(impossible)
    }

    /// Says what to do so that a program without a sandbox of its own has one.
    ///
    /// It blocks the thread as [`check`](Self::check) does.
    pub fn remedy(&self) -> String {
        let missing = self.check().err();
        let remedy = missing.as_ref().and_then(AgentError::remedy);
        remedy.unwrap_or(OUTER_SANDBOX_REMEDY).to_owned()
    }

    /// Returns whether the program of `spec` is to be started in a sandbox by us.
    ///
    /// [`launch`](Self::launch) refuses a session that requires a sandbox and gets none.
    ///
    /// # Errors
    ///
    /// The session asks for bubblewrap, and there is none.
    pub fn are_needed(&self, spec: &SessionSpec) -> Result<bool, AgentError> {
        match &spec.outer_sandbox {
            Some(outer) if outer.is_bubblewrap() => self.bubblewrap().map(|_| true),
            // Any other one was made by the program that embeds the run.
            Some(_) | None => Ok(false),
        }
    }

    pub(super) fn bubblewrap(&self) -> Result<&Path, AgentError> {
        self.bubblewrap.as_deref().ok_or_else(|| {
            AgentError::new(
                AgentErrorKind::NotAvailable,
                "the agent is to run in bubblewrap, and that is not there",
            )
            .with_remedy("install bubblewrap, or say where it is")
        })
    }
}

/// Says that the sandbox cannot be made, and what to do.
pub(super) fn impossible(error: SandboxError) -> AgentError {
    let remedy = error.remedy();
    let message = "the agent is to run in bubblewrap, and that does not work here";
    let failed = AgentError::new(AgentErrorKind::NotAvailable, message).because(error);
    failed.with_remedy(remedy)
}

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
    use autonoe_core::{
        Gate, Grants, OuterSandbox, ProjectPaths, RunId, Sandbox, SessionKey, Toolbox,
    };
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
    fn bubblewrap_is_made_whatever_else_is_asked_for_or_nothing_starts() {
        use AgentErrorKind::NotAvailable;
        use Sandbox::{Off, Required};
        let (bwrap, none) = (Some("/usr/bin/bwrap"), None);
        let (ours, other) = (Some("bubblewrap"), Some("a container"));
        for (bubblewrap, sandbox, outer, expected) in [
            (bwrap, Required, ours, Ok(true)),
            (bwrap, Off, ours, Ok(true)),
            (none, Required, ours, Err(NotAvailable)),
            (none, Off, ours, Err(NotAvailable)),
            // Another one is around all of it already.
            (bwrap, Required, other, Ok(false)),
            (none, Required, other, Ok(false)),
            (none, Off, other, Ok(false)),
            (bwrap, Required, None, Ok(false)),
            (bwrap, Off, None, Ok(false)),
        ] {
            let walls = Walls::new(bubblewrap.map(PathBuf::from));
            let spec = spec(sandbox, outer);

            let needed = walls.are_needed(&spec);

            let needed = needed.map_err(|error| error.kind());
            assert_eq!(needed, expected, "{bubblewrap:?} {sandbox:?} {outer:?}");
        }
    }

    #[test]
    fn what_is_missing_is_said_with_a_remedy() {
        for bubblewrap in [None, Some("/nowhere/bwrap".into())] {
            let error = Walls::new(bubblewrap).check().expect_err("there is none");

            assert_eq!(error.kind(), AgentErrorKind::NotAvailable);
            assert!(error.remedy().is_some(), "{error}");
        }
    }

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
