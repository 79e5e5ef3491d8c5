//! [`LaunchPlan`]: program, arguments and environment of one session.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use autonoe_backend::{OUTER_SANDBOX_REMEDY, SandboxMounts, SessionDirectory, program_claims};
use autonoe_core::agent::{
    AgentErrorKind, EventCapabilities, HookCoverage, SessionField, Support, TokenReports,
};
use autonoe_core::project::{create_private_folder, write_new_file};
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentError, Capabilities, SessionSpec};
use autonoe_process::{Launch, refuse_bare_repositories};

use super::config_file::config_file;
use super::{CodexHome, CodexOptions, thread_settings};

/// The prefix of the names of session folders.
pub(crate) const FOLDER: &str = "autonoe-codex-";

/// The home of the commands that the program runs.
const HOME: &str = "home";

/// The home of the program, which it reads for each conversation. It is read-only in a sandbox.
const CODEX: &str = "codex";

/// The folder of the program's databases.
const STATE: &str = "state";

/// The one file in its home that the program must be able to write to start.
const INSTALLATION: &str = "installation_id";

/// The folder of the locks on kept conversations while the program writes them.
const LOCKS: &str = "thread-writer-locks";

/// The login in a kept folder.
const LOGIN: &str = "auth.json";

/// The conversations in a kept folder.
const CONVERSATIONS: &str = "sessions";

/// Launch of the program for one session.
pub(crate) struct LaunchPlan;

impl LaunchPlan {
    /// Checks whether the session can be started.
    ///
    /// # Errors
    ///
    /// The session requires something that these options do not support.
    pub(crate) fn check(options: &CodexOptions, spec: &SessionSpec) -> Result<(), AgentError> {
        let refuse = |kind, message: &str| Err(AgentError::new(kind, message));
        if spec.cwd.to_str().is_none() {
            return refuse(
                AgentErrorKind::Configuration,
                "Codex does not support a project path that is not UTF-8; rename the folder",
            );
        }
        spec.refuse_unclaimed(&claims(options))?;
        options.program.sandbox.is_needed(spec)?;
        if spec.mcp_servers.contains_key(Toolbox::SERVER) {
            return refuse(
                AgentErrorKind::Configuration,
                "the server name autonoe is reserved for Autonoe's tools; rename the MCP server",
            );
        }
        thread_settings(options, spec).map(drop)
    }

    /// Builds the launch, which owns the folder of the session.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, or the required sandbox is not available.
    pub(crate) async fn launch(
        options: &CodexOptions,
        spec: &SessionSpec,
        session_dir: SessionDirectory,
    ) -> Result<Launch, AgentError> {
        let mut environment = environment(options, spec);
        environment.extend(own_folders(&session_dir));
        let home = session_dir.path().join(CODEX);
        let mut writable = vec![home.join(INSTALLATION)];
        let shared = shared(options, spec.conversations.as_deref());
        if !shared.is_empty() {
            writable.push(home.join(LOCKS));
            let permanent = shared.into_iter().map(|(_, permanent)| permanent);
            writable.extend(permanent.filter(|path| path.exists()));
        }
        let mounts = SandboxMounts {
            program: options.program.path.clone(),
            writable,
            read_only: vec![home],
            ..SandboxMounts::default()
        };
        let launch = options
            .program
            .sandbox
            .launch(spec, &claims(options), session_dir, &mounts)
            .await?;
        Ok(launch.arg("app-server").envs(environment))
    }
}

/// Returns the capabilities of the backend with these options, for any version of the program.
pub(crate) fn claims(options: &CodexOptions) -> Capabilities {
    let claims = program_claims("codex")
        // Codex requests no permission to read resources of MCP servers.
        .with_hooks(HookCoverage::Partial)
        // An approved command may leave the sandbox of Codex, so it is not used.
        .with_sandbox(Support::No)
        .with_remedy(SessionField::Sandbox, OUTER_SANDBOX_REMEDY)
        .with_tokens(TokenReports::EachCall)
        .with_project_memory_off(Support::Yes)
        .with_events(
            EventCapabilities::default()
                .with_model_calls(Support::Yes)
                .with_model_chunks(Support::Yes),
        );
    match options.home {
        CodexHome::PerSession => {
            let remedy = "give sessions a directory for conversations, or set `home` of the \
                          backend to {\"persistent\": \"<folder>\"}";
            claims
                .with_conversation_dir(Support::Yes)
                .with_remedy(SessionField::Resume, remedy)
        }
        CodexHome::Persistent(_) => claims.with_resume(Support::Yes),
    }
}

/// Returns the environment of the program, without the variables that name its own folders.
///
/// Credentials are not part of it: the key of the provider is part of the settings of a
/// conversation. The settings also carry the trace of the session, for the agent's commands.
fn environment(options: &CodexOptions, spec: &SessionSpec) -> BTreeMap<OsString, OsString> {
    let filter = &spec.credential_filter;
    let mut environment = options.program.environment.clone();
    filter.apply(&mut environment);
    let own = spec.environment.iter();
    environment.extend(own.map(|(name, value)| (name.into(), value.into())));
    if let Some(provider) = &options.provider {
        let key = OsStr::new(&provider.key_variable);
        if !filter.allows(key) {
            environment.remove(key);
        }
    }
    refuse_bare_repositories(&mut environment);
    environment
}

/// Returns the environment of the program, whose own files are in `session_dir`.
///
/// Its home is there too: otherwise shells that it starts would read files of the user.
pub(crate) fn bare_environment(
    options: &CodexOptions,
    session_dir: &SessionDirectory,
) -> BTreeMap<OsString, OsString> {
    let mut environment = options.program.environment.clone();
    environment.extend(own_folders(session_dir));
    environment
}

/// Returns the variables with the paths of the program's own files. They override all others, which
/// could name another configuration.
fn own_folders(session_dir: &SessionDirectory) -> impl Iterator<Item = (OsString, OsString)> {
    let entry = |name: &str| session_dir.path().join(name);
    let folders = [
        ("HOME", entry(HOME)),
        ("CODEX_HOME", entry(CODEX)),
        ("CODEX_SQLITE_HOME", entry(STATE)),
        ("TMPDIR", session_dir.temporary().to_owned()),
    ];
    folders
        .map(|(name, folder)| (name.into(), folder.into()))
        .into_iter()
}

/// Returns the entries of the program's home that are kept after the session, with their permanent
/// paths.
///
/// The rest of a kept folder is not shared: its other files are configuration for its next user.
fn shared(options: &CodexOptions, conversations: Option<&Path>) -> Vec<(&'static str, PathBuf)> {
    let persistent_entries = |permanent: &Path, names: &[&'static str]| {
        let entries = names.iter().map(|name| (*name, permanent.join(name)));
        entries.collect()
    };
    match (&options.home, conversations) {
        (CodexHome::Persistent(permanent), _) => {
            persistent_entries(permanent, &[LOGIN, CONVERSATIONS])
        }
        (CodexHome::PerSession, Some(folder)) => {
            persistent_entries(&folder.join(CODEX), &[CONVERSATIONS])
        }
        (CodexHome::PerSession, None) => Vec::new(),
    }
}

/// Creates a folder with all files that the environment of the program refers to, for a session in
/// `cwd` that keeps its conversation in `conversations`.
///
/// # Errors
///
/// The folder cannot be created.
pub(crate) fn create_session_directory(
    options: &CodexOptions,
    cwd: &Path,
    conversations: Option<&Path>,
) -> Result<SessionDirectory, AgentError> {
    let shared = shared(options, conversations);
    SessionDirectory::create(&options.program.temporary, FOLDER, |folder| {
        match (&options.home, conversations) {
            (CodexHome::Persistent(permanent), _) => {
                fs::create_dir_all(permanent.join(CONVERSATIONS))?;
            }
            (CodexHome::PerSession, Some(permanent)) => {
                // Each folder is created separately: a symlink at any of them is refused.
                create_private_folder(permanent)?;
                create_private_folder(&permanent.join(CODEX))?;
                create_private_folder(&permanent.join(CODEX).join(CONVERSATIONS))?;
            }
            (CodexHome::PerSession, None) => {}
        }
        write_home(options, cwd, &shared, folder)
    })
}

fn write_home(
    options: &CodexOptions,
    cwd: &Path,
    shared: &[(&str, PathBuf)],
    folder: &Path,
) -> io::Result<()> {
    for name in [HOME, CODEX, STATE] {
        fs::create_dir(folder.join(name))?;
    }
    let codex = folder.join(CODEX);
    // The databases index the kept conversations, so with those the program creates them.
    if shared.is_empty() {
        let program = &options.program.path;
        options.state_template.write(program, &folder.join(STATE))?;
    }
    write_new_file(&codex.join(INSTALLATION), b"")?;
    let config = config_file(options, cwd);
    write_new_file(&codex.join("config.toml"), config.as_bytes())?;
    if !shared.is_empty() {
        fs::create_dir(codex.join(LOCKS))?;
    }
    for (name, permanent) in shared {
        symlink(permanent, codex.join(name))?;
    }
    Ok(())
}
