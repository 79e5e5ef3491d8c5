//! The environment of the program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use autonoe_backend::session_environment;
use autonoe_core::SessionSpec;

use super::{ClaudeOptions, ConfigFolder};

/// Set for every session: no other traffic than calls of the model, and times in UTC.
const ALWAYS: &[(&str, &str)] = &[
    ("CLAUDE_CODE_ENTRYPOINT", "autonoe"),
    // It says when it is idle, so that nobody has to guess when a session is over.
    ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("TZ", "UTC"),
];

/// Returns the environment for one session, whose own files are in `folder`.
pub(super) fn environment(
    options: &ClaudeOptions,
    spec: &SessionSpec,
    folder: &Path,
) -> BTreeMap<OsString, OsString> {
    let mut environment = bare_environment(options, folder);
    environment.extend(session_environment(spec));
    environment
}

/// Returns the environment of the program when it is asked about itself.
pub(crate) fn bare_environment(
    options: &ClaudeOptions,
    folder: &Path,
) -> BTreeMap<OsString, OsString> {
    let mut environment = options.environment.clone();
    // With this it takes itself for a tool of another one.
    environment.remove(&OsString::from("CLAUDECODE"));
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    for (name, value) in ALWAYS {
        set(name, (*value).into());
    }
    let temporary = folder.join("tmp");
    set("TMPDIR", temporary.clone().into());
    set("CLAUDE_CODE_TMPDIR", temporary.into());
    match &options.config {
        ConfigFolder::OfTheUser => {}
        ConfigFolder::PerSession => {
            set("CLAUDE_CONFIG_DIR", folder.join("config").into());
        }
        ConfigFolder::Kept(kept) => {
            set("CLAUDE_CONFIG_DIR", kept.clone().into());
        }
    }
    environment
}
