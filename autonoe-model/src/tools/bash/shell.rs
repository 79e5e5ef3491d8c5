//! How a command is started.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::{ToolContext, ToolError, ToolErrorCode};
use autonoe_process::{Ladder, Launch, Marker, Network, OsSandbox};

use super::repository::{self, Repository};
use crate::tools::Workspace;

/// The variable that processes of commands are found by.
const MARKER: &str = "AUTONOE_TOOL_CALL";

/// Joins standard error to standard output, and runs what was given.
const JOINED: &str = "exec \"$0\" --noprofile --norc -c -- \"$1\" 2>&1";

/// Everything that commands have in common.
#[derive(Debug)]
pub(in crate::tools) struct Shell {
    pub(in crate::tools) program: PathBuf,
    pub(in crate::tools) workspace: Arc<Workspace>,
    pub(in crate::tools) env: BTreeMap<OsString, OsString>,
    /// `None` if a person has switched it off.
    pub(in crate::tools) sandbox: Option<OsSandbox>,
    pub(in crate::tools) network: Network,
    /// What commands inherit that are in no sandbox.
    pub(in crate::tools) lock: Option<Arc<File>>,
}

impl Shell {
    /// Makes the launch of `command`, in the sandbox that was made for it.
    pub(super) fn launch(
        &self,
        command: &str,
        sandbox: Option<OsSandbox>,
        context: &ToolContext,
    ) -> Result<Launch, ToolError> {
        let number = getrandom::u64().map_err(|error| {
            ToolError::new(
                ToolErrorCode::UNKNOWN,
                format!("no random numbers: {error}"),
            )
        })?;
        let session = &context.session;
        let value = format!("{}-{}-{number:016x}", session.run.as_str(), session.number);
        let marker = Marker::new(MARKER, value)
            .map_err(|error| ToolError::new(ToolErrorCode::CONFIG_ERROR, error.to_string()))?;
        let launch = Launch::new(&self.program, self.workspace.root(), marker)
            .args(["--noprofile", "--norc", "-c", JOINED].map(OsStr::new))
            .arg(&self.program)
            .arg(command)
            .envs(&self.env)
            .when_dropped(Ladder::kill_at_once());
        Ok(match (sandbox, &self.lock) {
            // Nothing in it outlives this program, and with the lock in hand a command could
            // write to it and let others in.
            (Some(sandbox), _) => launch.inside(sandbox),
            (None, Some(lock)) => launch.inherit(lock.clone()),
            (None, None) => launch,
        })
    }

    /// Returns the repository that is to be guarded, if a sandbox can and nobody has said what
    /// holds for it.
    pub(super) fn repository(&self) -> Option<Repository> {
        let name = OsStr::new(repository::NAME);
        let is_said = self.workspace.read_only_names().contains(name)
            || self.workspace.hidden_names().contains(name);
        (self.is_sandboxed() && !is_said).then(|| Repository::of(self.workspace.root()))
    }

    /// Returns the sandbox as it must be now: what is guarded in the workspace comes and goes.
    pub(in crate::tools) fn confined(&self) -> Option<OsSandbox> {
        self.confined_with(self.repository().as_ref())
    }

    pub(super) fn confined_with(&self, repository: Option<&Repository>) -> Option<OsSandbox> {
        let root = self.workspace.root();
        let mut sandbox = self.sandbox.clone()?.writable(root);
        if let Some(repository) = repository {
            sandbox = repository.guard(sandbox);
        }
        for name in self.workspace.read_only_names() {
            let path = root.join(name);
            if path.symlink_metadata().is_ok() {
                sandbox = sandbox.read_only(path);
            }
        }
        for name in self.workspace.hidden_names() {
            sandbox = sandbox.hidden(root.join(name));
        }
        Some(sandbox)
    }

    pub(super) fn is_sandboxed(&self) -> bool {
        self.sandbox.is_some()
    }

    /// Says to an agent what it finds around it.
    pub(super) fn surroundings(&self) -> &'static str {
        match (&self.sandbox, self.network) {
            (None, _) => "",
            (Some(_), Network::Off) => {
                "It can write to the workspace, without hooks and config in .git, and to /tmp, \
                 which is empty for each command, and has no network."
            }
            (Some(_), Network::Shared) => {
                "It can write to the workspace, without hooks and config in .git, and to /tmp, \
                 which is empty for each command."
            }
        }
    }
}
