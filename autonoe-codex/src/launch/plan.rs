//! All that is needed to start the program for one session.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use autonoe_backend::{Inside, OUTER_SANDBOX_REMEDY, SessionPlace, program_claims};
use autonoe_core::{
    AgentError, AgentErrorKind, Capabilities, HookCoverage, SessionField, SessionSpec, Support,
    TokenReports, ToldEvents, Toolbox, create_private_folder, write_new_file,
};
use autonoe_process::{Launch, refuse_bare_repositories};

use super::config_file::config_file;
use super::{CodexHome, CodexOptions, thread_settings};

/// What the names of the folders of sessions begin with.
pub(crate) const FOLDER: &str = "autonoe-codex-";

/// The home of what the program runs.
const HOME: &str = "home";

/// The home of the program: what it reads for each conversation. In a sandbox nothing can write it.
const CODEX: &str = "codex";

/// Where the program has its databases.
const STATE: &str = "state";

/// The one file in its home that the program does not start without being able to write.
const INSTALLATION: &str = "installation_id";

/// Where the program locks conversations that are kept while it writes them.
const LOCKS: &str = "thread-writer-locks";

/// The login in a folder that is kept.
const LOGIN: &str = "auth.json";

/// The conversations in a folder that is kept.
const CONVERSATIONS: &str = "sessions";

/// All that is needed to start the program for one session.
pub(crate) struct LaunchPlan;

impl LaunchPlan {
    /// Tells whether the session can be started at all.
    ///
    /// # Errors
    ///
    /// The session asks for something that these options cannot give.
    pub(crate) fn check(options: &CodexOptions, spec: &SessionSpec) -> Result<(), AgentError> {
        let refuse = |kind, message: &str| Err(AgentError::new(kind, message));
        if spec.cwd.to_str().is_none() {
            return refuse(
                AgentErrorKind::Configuration,
                "Codex cannot be told of a folder whose name is no text",
            );
        }
        spec.refuse_unclaimed(&claims(options))?;
        options.walls.are_needed(spec)?;
        if spec.mcp_servers.contains_key(Toolbox::SERVER) {
            return refuse(
                AgentErrorKind::Configuration,
                "the name autonoe is taken by our own tools; give the MCP server another one",
            );
        }
        thread_settings(options, spec).map(drop)
    }

    /// Makes the launch, and the folder that goes with it.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or the sandbox that it needs is not there.
    pub(crate) async fn launch(
        options: &CodexOptions,
        spec: &SessionSpec,
        place: SessionPlace,
    ) -> Result<Launch, AgentError> {
        let mut environment = environment(options, spec);
        environment.extend(own_folders(&place));
        let home = place.path().join(CODEX);
        let mut writable = vec![home.join(INSTALLATION)];
        let shared = shared(options, spec.conversations.as_deref());
        if !shared.is_empty() {
            writable.push(home.join(LOCKS));
            let kept = shared.into_iter().map(|(_, kept)| kept);
            writable.extend(kept.filter(|path| path.exists()));
        }
        let inside = Inside {
            program: options.program.clone(),
            writable,
            fixed: vec![home],
            ..Inside::default()
        };
        let launch = options
            .walls
            .launch(spec, &claims(options), place, &inside)
            .await?;
        Ok(launch.arg("app-server").envs(environment))
    }
}

/// Returns what the backend can do with these options, whatever version the program has.
pub(crate) fn claims(options: &CodexOptions) -> Capabilities {
    let claims = program_claims("codex")
        // Codex does not ask before it reads resources of MCP servers.
        .with_hooks(HookCoverage::AskedOnly)
        // An approved command may leave the sandbox of Codex, so it is not used.
        .with_sandbox(Support::No)
        .with_remedy(SessionField::Sandbox, OUTER_SANDBOX_REMEDY)
        .with_tokens(TokenReports::EachCall)
        .with_project_memory_off(Support::Yes)
        .with_events(
            ToldEvents::default()
                .with_model_calls(Support::Yes)
                .with_model_chunks(Support::Yes),
        );
    match options.home {
        CodexHome::PerSession => {
            let remedy = "give sessions a directory for conversations, or set `home` of the \
                          backend to {\"kept\": \"<folder>\"}";
            claims
                .with_conversation_dir(Support::Yes)
                .with_remedy(SessionField::Resume, remedy)
        }
        CodexHome::Kept(_) => claims.with_resume(Support::Yes),
    }
}

/// Returns the environment of the program, without the variables that name its own folders.
///
/// Credentials are not part of it: the key of the provider is part of the settings of a
/// conversation. The settings also carry the trace of the session, for the agent's commands.
fn environment(options: &CodexOptions, spec: &SessionSpec) -> BTreeMap<OsString, OsString> {
    let filter = &spec.credential_filter;
    let mut environment = options.environment.clone();
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

/// Returns the environment of the program, whose own files are in `place`.
///
/// Its home is there too: shells that it starts would read files of a person otherwise.
pub(crate) fn bare_environment(
    options: &CodexOptions,
    place: &SessionPlace,
) -> BTreeMap<OsString, OsString> {
    let mut environment = options.environment.clone();
    environment.extend(own_folders(place));
    environment
}

/// Returns the variables by which the program finds its own files. Nobody else may set them: they
/// would name a configuration that is not ours.
fn own_folders(place: &SessionPlace) -> impl Iterator<Item = (OsString, OsString)> {
    let entry = |name: &str| place.path().join(name);
    let folders = [
        ("HOME", entry(HOME)),
        ("CODEX_HOME", entry(CODEX)),
        ("CODEX_SQLITE_HOME", entry(STATE)),
        ("TMPDIR", place.temporary().to_owned()),
    ];
    folders
        .map(|(name, folder)| (name.into(), folder.into()))
        .into_iter()
}

/// Returns the entries of the program's home that outlive the session, with where they are kept.
///
/// Not all of a folder that is kept: its other files are configuration for whoever uses it next.
fn shared(options: &CodexOptions, conversations: Option<&Path>) -> Vec<(&'static str, PathBuf)> {
    let kept_in = |kept: &Path, names: &[&'static str]| {
        let entries = names.iter().map(|name| (*name, kept.join(name)));
        entries.collect()
    };
    match (&options.home, conversations) {
        (CodexHome::Kept(kept), _) => kept_in(kept, &[LOGIN, CONVERSATIONS]),
        (CodexHome::PerSession, Some(folder)) => kept_in(&folder.join(CODEX), &[CONVERSATIONS]),
        (CodexHome::PerSession, None) => Vec::new(),
    }
}

/// Makes a folder with all that the environment of the program speaks of, for a session in `cwd`
/// that keeps its conversation in `conversations`.
///
/// # Errors
///
/// It cannot be made.
pub(crate) fn furnish(
    options: &CodexOptions,
    cwd: &Path,
    conversations: Option<&Path>,
) -> Result<SessionPlace, AgentError> {
    let shared = shared(options, conversations);
    SessionPlace::furnish(&options.temporary, FOLDER, |folder| {
        match (&options.home, conversations) {
            (CodexHome::Kept(kept), _) => fs::create_dir_all(kept.join(CONVERSATIONS))?,
            (CodexHome::PerSession, Some(kept)) => {
                // One by one: a symlink at any of them is refused.
                create_private_folder(kept)?;
                create_private_folder(&kept.join(CODEX))?;
                create_private_folder(&kept.join(CODEX).join(CONVERSATIONS))?;
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
    write_new_file(&codex.join(INSTALLATION), b"")?;
    let config = config_file(options, cwd);
    write_new_file(&codex.join("config.toml"), config.as_bytes())?;
    if !shared.is_empty() {
        fs::create_dir(codex.join(LOCKS))?;
    }
    for (name, kept) in shared {
        symlink(kept, codex.join(name))?;
    }
    Ok(())
}
