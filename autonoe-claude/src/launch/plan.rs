//! [`LaunchPlan`] of Claude Code for one session.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use autonoe_backend::{SandboxMounts, SessionDirectory, program_claims};
use autonoe_core::agent::{
    AgentErrorKind, EventCapabilities, HookCoverage, Sandbox, SessionField, Support, TokenReports,
};
use autonoe_core::gate::ProjectPaths;
use autonoe_core::{AgentError, Capabilities, SessionSpec};
use autonoe_process::{Launch, SessionParent};
use serde_json::json;

use super::command_line::{Files, arguments};
use super::command_line::{Folders, environment};
use super::credentials::{BASH_SETUP, Credentials};
use super::git_excludes::git_excludes;
use super::settings::own_sandbox;
use super::{ClaudeOptions, ConfigFolder, SettingSources, Settings, check_project_path};
use crate::ClaudePermissionMode;

/// The prefix of the names of session folders.
pub(crate) const FOLDER: &str = "autonoe-claude-";

/// Launch of the program for one session.
pub(crate) struct LaunchPlan;

/// A prepared launch, its settings and its files.
pub(crate) struct PreparedLaunch {
    pub(crate) launch: Launch,
    /// The settings that must be in force.
    pub(crate) settings: Settings,
    /// The file with the MCP servers. It may hold their credentials, so the session removes it once
    /// Claude Code has read it.
    pub(crate) server_file: Option<PathBuf>,
}

impl LaunchPlan {
    /// Checks whether the session can be started.
    ///
    /// # Errors
    ///
    /// The session requires something that these options do not support.
    pub(crate) fn check(options: &ClaudeOptions, spec: &SessionSpec) -> Result<(), AgentError> {
        spec.refuse_unclaimed(&claims(options))?;
        check_project_path(&spec.cwd, None)?;
        let is_sandboxed = options.program.sandbox.is_needed(spec)?;
        if is_sandboxed && options.own_sandbox == Sandbox::Required {
            let message = "the sandbox of Claude Code does not work inside bubblewrap";
            let remedy =
                "switch one of the two off; bubblewrap already contains all of Claude Code";
            return Err(AgentError::new(AgentErrorKind::Unsupported, message).with_remedy(remedy));
        }
        let mode = options.permission_mode;
        if ![ClaudePermissionMode::DontAsk, ClaudePermissionMode::Plan].contains(&mode) {
            let mode = mode.as_str();
            return Err(AgentError::new(
                AgentErrorKind::Configuration,
                format!(
                    "in the permission mode {mode} Claude Code allows calls without the gate; \
                     use dontAsk or plan"
                ),
            ));
        }
        if spec.tools.definitions().next().is_some()
            && spec
                .mcp_servers
                .contains_key(autonoe_core::tool::Toolbox::SERVER)
        {
            return Err(AgentError::new(
                AgentErrorKind::Configuration,
                "the server name autonoe is reserved for Autonoe's tools; rename the MCP server",
            ));
        }
        Settings::new(options, spec, &[], &options.program.temporary).map(drop)
    }

    /// Prepares the launch with its folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, or the session cannot be started at all.
    pub(crate) async fn prepare(
        options: &ClaudeOptions,
        spec: &SessionSpec,
    ) -> Result<PreparedLaunch, AgentError> {
        let session_dir = create_session_directory(options)?;
        let settings = Settings::new(options, spec, &parents(options), session_dir.temporary())?;
        let excludes = match own_sandbox(spec) {
            Sandbox::Required => {
                let text = render_git_excludes(options, spec).await?;
                Some(session_dir.write("git-excludes", &text)?)
            }
            Sandbox::Off => None,
        };
        let mut environment = environment(
            options,
            spec,
            Folders::new(&session_dir),
            excludes.as_deref(),
        );
        let credentials = Credentials::extract(&mut environment, spec);
        let setup = environment.get(OsStr::new(BASH_SETUP)).cloned();
        if let Some(script) = credentials.bash_setup(setup.as_deref()) {
            let file = session_dir.write("bash-setup.sh", &script)?;
            environment.insert(BASH_SETUP.into(), file.into());
        }
        let mut files = Files::default();
        if let Some(text) = &spec.system_prompt {
            files.system_prompt = Some(session_dir.write("system-prompt.md", text)?);
        }
        if !spec.mcp_servers.is_empty() {
            let mut servers = json!({"mcpServers": spec.mcp_servers});
            credentials.expand_references(&mut servers);
            files.mcp_servers = Some(session_dir.write("mcp-servers.json", &servers.to_string())?);
        }
        let mounts = SandboxMounts {
            program: options.program.path.clone(),
            writable: match &options.config {
                ConfigFolder::User | ConfigFolder::PerSession => Vec::new(),
                ConfigFolder::Persistent(persistent) => vec![persistent.clone()],
            },
            ..SandboxMounts::default()
        };
        let arguments = arguments(options, spec, &settings, &files);
        let launch = options
            .program
            .sandbox
            .launch(spec, &claims(options), session_dir, &mounts)
            .await?;
        let launch = launch.args(arguments).envs(environment);
        let secrets = credentials.secrets.into_iter();
        let launch = secrets.fold(launch, |launch, (variable, secret)| {
            launch.secret(variable, secret)
        });
        Ok(PreparedLaunch {
            launch,
            settings,
            server_file: files.mcp_servers,
        })
    }
}

/// Renders the excludes file on another thread, because that runs `git` for the first session.
async fn render_git_excludes(
    options: &ClaudeOptions,
    spec: &SessionSpec,
) -> Result<String, AgentError> {
    let (project, user_excludes) = (spec.cwd.clone(), options.user_excludes.clone());
    let environment = options.program.environment.clone();
    let render = move || git_excludes(&project, &environment, &user_excludes);
    tokio::task::spawn_blocking(render).await.map_err(|error| {
        let message = "the Git excludes of the session could not be rendered";
        AgentError::new(AgentErrorKind::Other, message).with_source(error)
    })
}

/// Returns the capabilities of the backend with these options, on a machine where it works.
///
/// Claude Code runs its commands in a sandbox, and does not start if it cannot create one.
pub(crate) fn claims(options: &ClaudeOptions) -> Capabilities {
    let claims = program_claims("claude")
        .with_hooks(HookCoverage::EveryTool)
        .with_sandbox(Support::Yes)
        .with_cost(Support::Yes)
        .with_tokens(TokenReports::EachTurn)
        .with_events(
            EventCapabilities::default()
                .with_model_calls(Support::Yes)
                .with_model_chunks(Support::Yes)
                .with_progress(Support::Yes),
        );
    let claims = match options.setting_sources {
        SettingSources::None => claims.with_project_memory_off(Support::Yes),
        // The settings of the project include its memory files.
        SettingSources::Project => {
            let remedy = "set `settingSources` of the backend to \"none\", or leave the project \
                          memory on";
            claims.with_remedy(SessionField::ProjectMemory, remedy)
        }
    };
    match options.config {
        // Conversations are kept beside the configuration.
        ConfigFolder::User | ConfigFolder::Persistent(_) => claims.with_resume(Support::Yes),
        ConfigFolder::PerSession => {
            let remedy = "set `config` of the backend to {\"persistent\": \"<folder>\"}: with \
                          \"perSession\" Claude Code keeps no conversations";
            claims.with_remedy(SessionField::Resume, remedy)
        }
    }
}

/// Returns the parents of all session folders: of those with these options, and of those with the
/// default ones.
///
/// The latter is created if it does not exist: the sandbox of Claude Code makes only existing
/// folders read-only, and other sessions may start later. If it cannot be created, it contains no
/// session of this user.
fn parents(options: &ClaudeOptions) -> Vec<PathBuf> {
    let shared = Path::new(ProjectPaths::TEMPORARY);
    if let Err(error) = SessionParent::open(shared) {
        tracing::warn!(%error, "the folder of sessions cannot be created");
    }
    let mut directories = vec![options.program.temporary.as_path(), shared];
    directories.dedup();
    let parent = |directory| SessionParent::in_directory(directory).path().to_owned();
    directories.into_iter().map(parent).collect()
}

/// Creates a folder with all files that the environment of the program refers to.
///
/// # Errors
///
/// The folder cannot be created.
pub(crate) fn create_session_directory(
    options: &ClaudeOptions,
) -> Result<SessionDirectory, AgentError> {
    SessionDirectory::create(&options.program.temporary, FOLDER, |folder| {
        fs::create_dir(folder.join("config"))?;
        match &options.config {
            ConfigFolder::Persistent(persistent) => fs::create_dir_all(persistent),
            ConfigFolder::User | ConfigFolder::PerSession => Ok(()),
        }
    })
}
