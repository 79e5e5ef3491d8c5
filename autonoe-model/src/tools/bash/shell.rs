//! [`Shell`]: launches commands.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::tool::ToolErrorCode;
use autonoe_core::{ToolContext, ToolError};
use autonoe_process::{Launch, Marker, Network, OsSandbox, ShutdownPolicy};

use super::repository::{self, Repository};
use crate::tools::workspace::ToolWorkspace;

/// Environment variable that marks the processes of commands.
const MARKER: &str = "AUTONOE_TOOL_CALL";

/// Redirects standard error to standard output, and runs the given command.
const JOINED: &str = "exec \"$0\" --noprofile --norc -c -- \"$1\" 2>&1";

/// Settings shared by all commands.
#[derive(Debug)]
pub(in crate::tools) struct Shell {
    pub(in crate::tools) program: PathBuf,
    pub(in crate::tools) workspace: Arc<ToolWorkspace>,
    pub(in crate::tools) env: BTreeMap<OsString, OsString>,
    /// `None` if the operator has disabled it.
    pub(in crate::tools) sandbox: Option<OsSandbox>,
    pub(in crate::tools) network: Network,
    /// Lock file that commands without a sandbox inherit.
    pub(in crate::tools) lock: Option<Arc<File>>,
}

impl Shell {
    /// Builds the launch of `command` in `sandbox`.
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
            .on_drop(ShutdownPolicy::kill_at_once());
        Ok(match (sandbox, &self.lock) {
            // Nothing in a sandbox outlives this program, and with the lock file a command could
            // write to it or release the lock.
            (Some(sandbox), _) => launch.sandbox(sandbox),
            (None, Some(lock)) => launch.inherit(lock.clone()),
            (None, None) => launch,
        })
    }

    /// Returns the repository to protect, if there is a sandbox and `.git` is neither hidden nor
    /// read-only.
    pub(super) fn repository(&self) -> Option<Repository> {
        let name = OsStr::new(repository::NAME);
        let is_configured =
            self.workspace.read_only.contains(name) || self.workspace.hidden.contains(name);
        (self.is_sandboxed() && !is_configured).then(|| Repository::inspect(self.workspace.root()))
    }

    /// Returns the sandbox for the current state of the workspace, whose protected entries may come
    /// and go.
    pub(in crate::tools) fn current_sandbox(&self) -> Option<OsSandbox> {
        self.sandbox_with(self.repository().as_ref())
    }

    pub(super) fn sandbox_with(&self, repository: Option<&Repository>) -> Option<OsSandbox> {
        let root = self.workspace.root();
        let mut sandbox = self.sandbox.clone()?.writable(root);
        if let Some(repository) = repository {
            sandbox = repository.guard(sandbox);
        }
        for name in &self.workspace.read_only {
            let path = root.join(name);
            if path.symlink_metadata().is_ok() {
                sandbox = sandbox.read_only(path);
            }
        }
        for name in &self.workspace.hidden {
            sandbox = sandbox.hidden(root.join(name));
        }
        Some(sandbox)
    }

    pub(super) fn is_sandboxed(&self) -> bool {
        self.sandbox.is_some()
    }

    /// Describes the command's environment to an agent.
    pub(super) fn describe_environment(&self) -> &'static str {
        match (&self.sandbox, self.network) {
            (None, _) => "",
            (Some(_), Network::Off) => {
                "It can write to the workspace, except for hooks and config in .git, and to \
                 /tmp, which is empty for each command. It has no network."
            }
            (Some(_), Network::Shared) => {
                "It can write to the workspace, except for hooks and config in .git, and to \
                 /tmp, which is empty for each command."
            }
        }
    }
}
