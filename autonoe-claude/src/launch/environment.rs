//! Environment of Claude Code.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use autonoe_backend::{SessionPlace, add_session_environment};
use autonoe_core::SessionSpec;
use autonoe_process::add_git_setting;

use super::project_memory::has_memory;
use super::{ClaudeOptions, ConfigFolder};

/// Set for every session: commands from the root of the project, no traffic but model calls, and
/// times in UTC.
const ALWAYS: &[(&str, &str)] = &[
    // Otherwise a `cd` applies to all further commands, and the Bash policy, which judges each
    // command from the root of the project, denies the `cd` back.
    ("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR", "1"),
    ("CLAUDE_CODE_ENTRYPOINT", "autonoe"),
    // It says when it is idle, so that nobody has to guess when a session is over.
    ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    // Both builds then have `TodoWrite`, instead of a tool per change of the list.
    ("CLAUDE_CODE_ENABLE_TASKS", "false"),
    ("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("TZ", "UTC"),
];

/// The folders of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folders<'a> {
    /// The folder for files of the program, which agents do not write to.
    pub(crate) own: &'a Path,
    /// The folder for temporary files.
    pub(crate) temporary: &'a Path,
}

impl<'a> Folders<'a> {
    pub(crate) fn new(place: &'a SessionPlace) -> Self {
        Self {
            own: place.path(),
            temporary: place.temporary(),
        }
    }
}

/// Returns the environment for one session with these `folders`.
///
/// `git_excludes` is the excludes file of Git, for a session in the sandbox of Claude Code.
pub(super) fn environment(
    options: &ClaudeOptions,
    spec: &SessionSpec,
    folders: Folders<'_>,
    git_excludes: Option<&Path>,
) -> BTreeMap<OsString, OsString> {
    let mut environment = bare_environment(options, folders);
    if has_memory(options, spec) {
        let name = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";
        environment.insert(name.into(), "1".into());
    }
    add_session_environment(&mut environment, spec);
    if let Some(file) = git_excludes {
        add_git_setting(&mut environment, "core.excludesFile", file);
    }
    environment
}

/// Returns the environment of the program when it is asked about itself.
pub(crate) fn bare_environment(
    options: &ClaudeOptions,
    folders: Folders<'_>,
) -> BTreeMap<OsString, OsString> {
    let mut environment = options.environment.clone();
    // With this it takes itself for a tool of another one.
    environment.remove(&OsString::from("CLAUDECODE"));
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    for (name, value) in ALWAYS {
        set(name, (*value).into());
    }
    for name in ["TMPDIR", "CLAUDE_CODE_TMPDIR"] {
        set(name, folders.temporary.into());
    }
    match &options.config {
        ConfigFolder::OfTheUser => {}
        ConfigFolder::PerSession => {
            set("CLAUDE_CONFIG_DIR", folders.own.join("config").into());
        }
        ConfigFolder::Kept(kept) => {
            set("CLAUDE_CONFIG_DIR", kept.clone().into());
        }
    }
    environment
}
