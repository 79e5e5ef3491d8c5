//! Launch of an agent for one session.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_backend::{
    OUTER_SANDBOX_REMEDY, SandboxMounts, SandboxNetwork, SessionDirectory, add_session_environment,
};
use autonoe_core::agent::{
    AgentErrorKind, EventCapabilities, HookCoverage, SessionField, Support, TokenReports,
};
use autonoe_core::project::write_new_file;
use autonoe_core::tool::McpServer;
use autonoe_core::{AgentError, Capabilities, SessionSpec};
use autonoe_process::Launch;
use serde_json::Value;

use super::options::API_KEY;
use super::{AcpOptions, HomeFolder, Preset, gemini, gemini_chats, gemini_settings, memory_files};

/// The prefix of the names of session folders.
pub(crate) const FOLDER: &str = "autonoe-acp-";

/// The remedy for limits that Gemini CLI reads from the settings in its home.
const FRESH_HOME: &str =
    "set `home` of the backend to \"perSession\": settings in another home could replace the limit";

/// Checks whether a session can be started.
///
/// # Errors
///
/// The session requires something that the agent does not support.
pub(crate) fn check(options: &AcpOptions, spec: &SessionSpec) -> Result<(), AgentError> {
    spec.refuse_unclaimed(&claims(options))?;
    let is_sandboxed = options.program.sandbox.is_needed(spec)?;
    let is_far = |server: &McpServer| matches!(server, McpServer::Remote { .. });
    if is_sandboxed
        && options.program.sandbox.network == SandboxNetwork::Off
        && spec.mcp_servers.values().any(is_far)
    {
        let message = "an agent without a network cannot reach an MCP server by its address";
        let remedy = "set `network` of its sandbox to \"shared\", or start the server by a command";
        return Err(AgentError::new(AgentErrorKind::Unsupported, message).with_remedy(remedy));
    }
    Ok(())
}

/// Returns the capabilities of the agent with these options, before its answer to `initialize` is
/// known.
pub(crate) fn claims(options: &AcpOptions) -> Capabilities {
    let support = |is_there| if is_there { Support::Yes } else { Support::No };
    let is_gemini = options.preset == Preset::Gemini;
    let is_fresh = options.home == HomeFolder::PerSession;
    let has_model = options.model_argument.is_some();
    let claims = Capabilities::new(&options.name)
        // The agent decides which calls it requests permission for, and the protocol does not
        // report which.
        .with_hooks(HookCoverage::Partial)
        // The protocol does not report whether an agent has a sandbox.
        .with_sandbox(Support::No)
        .with_remedy(SessionField::Sandbox, OUTER_SANDBOX_REMEDY)
        .with_outer_sandbox(Support::Yes)
        .with_cost(Support::No)
        .with_tokens(match options.preset {
            // An agent may report tokens, and does not announce whether it will.
            Preset::Plain => TokenReports::None,
            Preset::Gemini => TokenReports::EachTurn,
        })
        .with_quota_reset(Support::No)
        .with_resume(support(!is_fresh))
        .with_conversation_dir(support(is_gemini && is_fresh))
        .with_model(support(has_model))
        .with_system_prompt(support(is_gemini))
        .with_thinking(Support::No)
        // The limit is in a settings file, and settings in another home could replace it.
        .with_max_turns(support(is_gemini && is_fresh))
        .with_mcp_servers(Support::Yes)
        // Settings in another home can name further memory files.
        .with_project_memory_off(support(is_gemini && is_fresh))
        .with_in_process_tools(Support::No)
        .with_steering(Support::No)
        .with_events(EventCapabilities::default());
    let remedies = [
        (
            SessionField::Resume,
            !is_fresh,
            "set `home` of the backend to {\"persistent\": \"<folder>\"}, or use Gemini CLI and \
             give sessions a directory for conversations",
        ),
        (
            SessionField::Model,
            has_model,
            "set `modelArgument` of the backend to the argument that its program expects before \
             the name of a model, such as \"--model\", or leave the model out",
        ),
        (SessionField::MaxTurns, !is_gemini || is_fresh, FRESH_HOME),
        (
            SessionField::ProjectMemory,
            !is_gemini || is_fresh,
            FRESH_HOME,
        ),
    ];
    remedies
        .into_iter()
        .filter(|(_, is_claimed, _)| !is_claimed)
        .fold(claims, |claims, (field, _, remedy)| {
            claims.with_remedy(field, remedy)
        })
}

/// Returns the capabilities of the agent with these options and this `answer` to `initialize`.
pub(crate) fn answered_claims(options: &AcpOptions, answer: &Value) -> Capabilities {
    let mut claims = claims(options);
    if answer["agentCapabilities"]["loadSession"] != true {
        claims.resume = Support::No;
        claims.conversation_dir = Support::No;
        // No home makes an agent resume that does not support it.
        claims.remedies.remove(&SessionField::Resume);
    }
    claims
}

/// Builds the launch of an agent for a session.
///
/// # Errors
///
/// The folder of the session cannot be created, or the required sandbox is not available.
pub(crate) async fn launch(options: &AcpOptions, spec: &SessionSpec) -> Result<Launch, AgentError> {
    let is_sandboxed = options.program.sandbox.is_needed(spec)?;
    let session_dir = create_session_directory(options, Some(spec))?;
    let mut environment = session_variables(options, spec);
    environment.extend(own_folders(options, &session_dir));
    let mut sandbox_config = options.program.sandbox.clone();
    let mut mounts = SandboxMounts {
        program: options.program.path.clone(),
        readable: readable(options, spec),
        writable: home(options, session_dir.path()).into_iter().collect(),
        read_only: Vec::new(),
        hidden: Vec::new(),
    };
    if options.preset == Preset::Gemini {
        gemini::refuse_files(&spec.cwd, &options.home, is_sandboxed)?;
        if !spec.project_memory {
            memory_files::refuse(&spec.cwd).await?;
        }
        let home = home(options, session_dir.path());
        gemini::set_environment(&mut environment, session_dir.path(), home.as_deref());
        if let Some(prompt) = &spec.system_prompt {
            let file = session_dir.write("system.md", prompt)?;
            sandbox_config.readable.push(file.clone());
            environment.insert("GEMINI_SYSTEM_MD".into(), file.into());
        }
        sandbox_config
            .readable
            .push(session_dir.path().join(gemini::SYSTEM_SETTINGS));
        if let HomeFolder::Persistent(home) = &options.home {
            // Its entries are protected from being moved only if the folder itself is writable.
            mounts.writable.push(home.join(gemini::SETTINGS));
            let fixed =
                gemini_settings::read_only_paths(home).map_err(|error| home_error(home, error))?;
            sandbox_config.readable.extend(fixed);
        }
        let conversation_dir = conversation_dir(options, spec);
        if let (Some(session), Some(chats)) = (
            &spec.resume,
            chats_dir(options, conversation_dir.as_deref()),
        ) {
            gemini_chats::backdate(&chats, session);
        }
        mounts.writable.extend(conversation_dir);
        mounts.hidden.push(spec.cwd.join(gemini::SETTINGS));
    }
    let launch = sandbox_config
        .launch(spec, &claims(options), session_dir, &mounts)
        .await?
        .args(options.args.clone())
        .envs(environment);
    Ok(match (&options.model_argument, &spec.model) {
        (Some(argument), Some(model)) => launch.arg(argument).arg(model),
        _ => launch,
    })
}

/// Returns the variables of an agent for a session. They include only those credentials that the
/// agent needs in its environment, that the session allows or that the session itself sets.
fn session_variables(options: &AcpOptions, spec: &SessionSpec) -> BTreeMap<OsString, OsString> {
    let filter = &spec.credential_filter;
    let is_sent = gemini::api_key(options, spec).is_some();
    let is_needed = |name: &OsString| {
        let mut keys = options.key_variables.iter();
        !is_sent && keys.any(|key| name == OsStr::new(key))
    };
    let mut environment = options.program.environment.clone();
    environment.retain(|name, _| is_needed(name) || !filter.withholds(name));
    add_session_environment(&mut environment, spec);
    let api_key = OsStr::new(API_KEY);
    if is_sent && !filter.allows(api_key) {
        environment.remove(api_key);
    }
    environment
}

/// Returns the paths of an agent beside its program: its package, and the programs of its MCP
/// servers, which it starts.
fn readable(options: &AcpOptions, spec: &SessionSpec) -> Vec<PathBuf> {
    let servers = spec.mcp_servers.values();
    let commands = servers
        .filter_map(|server| match server {
            McpServer::Stdio { command, .. } => Some(PathBuf::from(command)),
            _ => None,
        })
        .filter(|path| path.is_absolute() && path.exists());
    options.package().into_iter().chain(commands).collect()
}

/// Builds the launch of an agent for a probe.
///
/// # Errors
///
/// The folder of the session cannot be created.
pub(crate) fn probe_launch(options: &AcpOptions) -> Result<Launch, AgentError> {
    let session_dir = create_session_directory(options, None)?;
    let folder = session_dir.path().to_owned();
    let mut environment = options.program.environment.clone();
    environment.extend(own_folders(options, &session_dir));
    if options.preset == Preset::Gemini {
        let home = home(options, &folder);
        gemini::set_environment(&mut environment, &folder, home.as_deref());
    }
    Ok(session_dir
        .launch(&options.program.path, &folder)
        .args(options.args.clone())
        .envs(environment))
}

/// Creates a folder with all files that the environment of the program refers to, for a session or,
/// without one, for a probe.
fn create_session_directory(
    options: &AcpOptions,
    spec: Option<&SessionSpec>,
) -> Result<SessionDirectory, AgentError> {
    SessionDirectory::create(&options.program.temporary, FOLDER, |folder| {
        let home = home(options, folder);
        if let Some(home) = &home {
            fs::create_dir_all(home)?;
        }
        if options.preset == Preset::Gemini {
            write_settings(folder, home.as_deref(), options, spec)?;
        }
        let conversation_dir = spec.and_then(|spec| conversation_dir(options, spec));
        if let (Some(home), Some(conversation_dir)) = (home, conversation_dir) {
            gemini_chats::link(&home, &conversation_dir)?;
        }
        Ok(())
    })
}

/// Returns the folder of the session's conversation, if it is not in the home of the agent.
fn conversation_dir(options: &AcpOptions, spec: &SessionSpec) -> Option<PathBuf> {
    let is_separate = options.preset == Preset::Gemini && options.home == HomeFolder::PerSession;
    let conversations = spec.conversations.as_ref().filter(|_| is_separate)?;
    Some(gemini_chats::conversations_dir(conversations))
}

/// Returns the folder of the conversations that a session can resume, if it is not in the user's
/// home. `conversation_dir` is the folder outside of the home.
fn chats_dir(options: &AcpOptions, conversation_dir: Option<&Path>) -> Option<PathBuf> {
    match &options.home {
        HomeFolder::Persistent(home) => Some(gemini_chats::home_dir(home)),
        HomeFolder::User | HomeFolder::PerSession => conversation_dir.map(Path::to_owned),
    }
}

/// Returns the home of the agent, if it is not the user's.
fn home(options: &AcpOptions, folder: &Path) -> Option<PathBuf> {
    match &options.home {
        HomeFolder::User => None,
        HomeFolder::PerSession => Some(folder.join("home")),
        HomeFolder::Persistent(home) => Some(home.clone()),
    }
}

/// Returns the variables with the paths of the program's own files, which are in `session_dir`. They
/// override all others: otherwise files would be left in other places, and the sandbox would deny
/// the writes.
fn own_folders(
    options: &AcpOptions,
    session_dir: &SessionDirectory,
) -> BTreeMap<OsString, OsString> {
    let temporary = ("TMPDIR".into(), session_dir.temporary().into());
    let home = home(options, session_dir.path()).map(|home| ("HOME".into(), home.into()));
    [temporary].into_iter().chain(home).collect()
}

/// Writes the settings of Gemini CLI into its home and into the file of system settings, which have
/// priority. The program reads that second file only if it and all folders above belong to root.
fn write_settings(
    folder: &Path,
    home: Option<&Path>,
    options: &AcpOptions,
    spec: Option<&SessionSpec>,
) -> io::Result<()> {
    let max_turns = spec.and_then(|spec| spec.max_turns);
    let filter = spec
        .map(|spec| spec.credential_filter.clone())
        .unwrap_or_default();
    let settings = gemini_settings::settings(&options.program.environment, &filter, max_turns);
    let system = folder.join(gemini::SYSTEM_SETTINGS);
    write_new_file(&system, settings.to_string().as_bytes())?;
    let session = folder.file_name().unwrap_or_default().to_string_lossy();
    match home {
        Some(home) => gemini_settings::write(home, &settings, &session),
        None => Ok(()),
    }
}

fn home_error(home: &Path, error: io::Error) -> AgentError {
    let message = format!("the home folder {home:?} cannot be used");
    AgentError::new(AgentErrorKind::Configuration, message).with_source(error)
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::Sandbox;
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::{AgentSessionId, SessionKey};
    use autonoe_core::tool::Toolbox;
    use autonoe_core::{AgentClientFactory, RunId};
    use serde_json::json;

    use super::*;
    use crate::AcpBackend;

    fn plain() -> AcpOptions {
        AcpOptions::new("goose", "/usr/bin/goose", [])
    }

    fn gemini(home: HomeFolder) -> AcpOptions {
        let options = AcpOptions::gemini("/usr/bin/node", "/opt/gemini.js", []);
        AcpOptions { home, ..options }
    }

    #[test]
    fn a_refusal_names_its_remedy() {
        use HomeFolder::{PerSession, User};
        for (options, field, way) in [
            (plain(), SessionField::Model, "`modelArgument`"),
            (plain(), SessionField::Sandbox, "OuterSandbox::bubblewrap()"),
            (plain(), SessionField::Thinking, "use another backend"),
            // A fresh home does not make an unknown agent limit its turns.
            (plain(), SessionField::MaxTurns, "use another backend"),
            (plain(), SessionField::ProjectMemory, "use another backend"),
            (
                gemini(PerSession),
                SessionField::Resume,
                "{\"persistent\": ",
            ),
            (gemini(User), SessionField::MaxTurns, "\"perSession\""),
            (gemini(User), SessionField::ProjectMemory, "\"perSession\""),
        ] {
            let refused = claims(&options).require([field]).expect_err(way);

            let sentence = format!(
                "{} does not support the setting `{}`: ",
                options.name,
                field.name()
            );
            assert!(refused.to_string().starts_with(&sentence), "{refused}");
            let remedy = refused.remedy().unwrap_or_default();
            assert!(remedy.contains(way), "{field:?}: {remedy}");
        }
    }

    #[test]
    fn the_remedy_suggests_no_persistent_home_to_an_agent_that_cannot_load_sessions() {
        let options = gemini(HomeFolder::PerSession);
        let answer = json!({"agentCapabilities": {"loadSession": false}});

        let refused = answered_claims(&options, &answer).require([SessionField::Resume]);

        let refused = refused.expect_err("it cannot");
        let remedy = refused.remedy().unwrap_or_default();
        assert!(remedy.contains("use another backend"), "{remedy}");
    }

    fn spec(project: &Path) -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new(project), Grants::none());
        let mut spec = SessionSpec::new(key, project, gate, Toolbox::new([]));
        spec.sandbox = Sandbox::Off;
        spec
    }

    #[tokio::test]
    async fn a_resumed_conversation_in_a_persistent_home_is_backdated() {
        let dir = tempfile::tempdir().expect("a directory");
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        let chats = home.join(".gemini/tmp/project/chats");
        fs::create_dir_all(&chats).expect("made");
        fs::create_dir(&project).expect("made");
        for name in [
            "session-2026-11-18T02-05-1f3a9c2e.jsonl",
            "session-2026-11-18T02-05-7b3f0000.jsonl",
        ] {
            fs::write(chats.join(name), "{}").expect("written");
        }
        let mut options = gemini(HomeFolder::Persistent(home));
        options.program.temporary = dir.path().to_owned();
        let mut spec = spec(&project);
        let id = "1f3a9c2e-5d07-4c11-9a52-0c8c1a6d7b3f";
        spec.resume = Some(AgentSessionId::new(id));

        launch(&options, &spec).await.expect("it can be launched");

        let entries = fs::read_dir(&chats).expect("it is there").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        let expected = [
            "session-2000-01-01T00-00-1f3a9c2e.jsonl",
            "session-2026-11-18T02-05-7b3f0000.jsonl",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_model_of_the_backend_needs_the_argument_too() {
        let mut options = plain();
        options.program.model = Some("large".to_owned());
        let created = AcpBackend::new(options).create(spec(Path::new("/srv/project")));

        let refused = created.expect_err("it has none");
        let unclaimed = AgentErrorKind::Unclaimed(SessionField::Model);
        assert_eq!(refused.kind(), unclaimed, "{refused}");
    }
}
