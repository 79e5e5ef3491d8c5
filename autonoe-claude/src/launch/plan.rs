//! Launch of Claude Code for one session.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use autonoe_backend::{Inside, SessionPlace, program_claims};
use autonoe_core::{
    AgentError, AgentErrorKind, Capabilities, HookCoverage, ProjectPaths, Sandbox, SessionField,
    SessionSpec, Support, TokenReports, ToldEvents,
};
use autonoe_process::{Launch, SessionParent};
use serde_json::json;

use super::command_line::{Files, arguments};
use super::command_line::{Folders, environment};
use super::credentials::{BASH_SETUP, Credentials};
use super::git_excludes::git_excludes;
use super::settings::own_sandbox;
use super::{ClaudeOptions, ConfigFolder, SettingSources, Settings, check_project_path};
use crate::wire::PermissionMode;

/// What the names of the folders of sessions begin with.
pub(crate) const FOLDER: &str = "autonoe-claude-";

/// All that is needed to start the program for one session.
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
    /// Tells whether the session can be started at all.
    ///
    /// # Errors
    ///
    /// The session asks for something that these options cannot give.
    pub(crate) fn check(options: &ClaudeOptions, spec: &SessionSpec) -> Result<(), AgentError> {
        spec.refuse_unclaimed(&claims(options))?;
        check_project_path(&spec.cwd, None)?;
        let has_walls = options.walls.are_needed(spec)?;
        if has_walls && options.own_sandbox == Sandbox::Required {
            let message = "the sandbox of Claude Code cannot be made inside of bubblewrap";
            let remedy = "leave one of the two out: all of Claude Code is in bubblewrap";
            return Err(AgentError::new(AgentErrorKind::Unsupported, message).with_remedy(remedy));
        }
        let mode = options.permission_mode;
        if ![PermissionMode::DontAsk, PermissionMode::Plan].contains(&mode) {
            let mode = mode.as_str();
            return Err(AgentError::new(
                AgentErrorKind::Configuration,
                format!(
                    "in the mode {mode} Claude Code allows by itself, and the gate must decide"
                ),
            ));
        }
        if spec.tools.definitions().next().is_some()
            && spec.mcp_servers.contains_key(autonoe_core::Toolbox::SERVER)
        {
            return Err(AgentError::new(
                AgentErrorKind::Configuration,
                "the name autonoe is taken by our own tools; give the MCP server another one",
            ));
        }
        Settings::new(options, spec, &[], &options.temporary).map(drop)
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
        let place = furnish(options)?;
        let settings = Settings::new(options, spec, &parents(options), place.temporary())?;
        let excludes = match own_sandbox(spec) {
            Sandbox::Required => {
                let text = git_excludes(&spec.cwd, &options.environment);
                Some(place.write("git-excludes", &text)?)
            }
            Sandbox::Off => None,
        };
        let mut environment = environment(options, spec, Folders::new(&place), excludes.as_deref());
        let credentials = Credentials::extract(&mut environment, spec);
        let setup = environment.get(OsStr::new(BASH_SETUP)).cloned();
        if let Some(script) = credentials.bash_setup(setup.as_deref()) {
            let file = place.write("bash-setup.sh", &script)?;
            environment.insert(BASH_SETUP.into(), file.into());
        }
        let mut files = Files::default();
        if let Some(text) = &spec.system_prompt {
            files.system_prompt = Some(place.write("system-prompt.md", text)?);
        }
        if !spec.mcp_servers.is_empty() {
            let mut servers = json!({"mcpServers": spec.mcp_servers});
            credentials.expand_references(&mut servers);
            files.mcp_servers = Some(place.write("mcp-servers.json", &servers.to_string())?);
        }
        let inside = Inside {
            program: options.program.clone(),
            writable: match &options.config {
                ConfigFolder::OfTheUser | ConfigFolder::PerSession => Vec::new(),
                ConfigFolder::Kept(kept) => vec![kept.clone()],
            },
            ..Inside::default()
        };
        let arguments = arguments(options, spec, &settings, &files);
        let launch = options
            .walls
            .launch(spec, &claims(options), place, &inside)
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

/// Returns what the backend can do with these options, on a machine where it works.
///
/// Claude Code keeps its commands in a sandbox, and does not start where it cannot.
pub(crate) fn claims(options: &ClaudeOptions) -> Capabilities {
    let claims = program_claims("claude")
        .with_hooks(HookCoverage::EveryTool)
        .with_sandbox(Support::Yes)
        .with_cost(Support::Yes)
        .with_tokens(TokenReports::EachTurn)
        .with_events(
            ToldEvents::default()
                .with_model_calls(Support::Yes)
                .with_model_chunks(Support::Yes)
                .with_progress(Support::Yes),
        );
    let claims = match options.setting_sources {
        SettingSources::None => claims.with_project_memory_off(Support::Yes),
        // With the settings of the project come its memory files.
        SettingSources::Project => {
            let remedy = "set `settingSources` of the backend to \"none\", or leave the project \
                          memory on";
            claims.with_remedy(SessionField::ProjectMemory, remedy)
        }
    };
    match options.config {
        // Conversations are kept beside the configuration.
        ConfigFolder::OfTheUser | ConfigFolder::Kept(_) => claims.with_resume(Support::Yes),
        ConfigFolder::PerSession => {
            let remedy = "set `config` of the backend to {\"kept\": \"<folder>\"}: with \
                          \"perSession\" Claude Code keeps no conversations";
            claims.with_remedy(SessionField::Resume, remedy)
        }
    }
}

/// Returns the parents of all folders of sessions: of those with these options, and of those with the
/// default ones.
///
/// The latter is made if it does not exist: the sandbox of Claude Code makes only existing folders
/// read-only, and other sessions may start later. If it cannot be made, it holds no session of this
/// user.
fn parents(options: &ClaudeOptions) -> Vec<PathBuf> {
    let shared = Path::new(ProjectPaths::TEMPORARY);
    if let Err(error) = SessionParent::open(shared) {
        tracing::warn!(%error, "the folder of sessions cannot be made");
    }
    let mut directories = vec![options.temporary.as_path(), shared];
    directories.dedup();
    let parent = |directory| SessionParent::in_directory(directory).path().to_owned();
    directories.into_iter().map(parent).collect()
}

/// Makes a folder with all that the environment of the program speaks of.
///
/// # Errors
///
/// It cannot be made.
pub(crate) fn furnish(options: &ClaudeOptions) -> Result<SessionPlace, AgentError> {
    SessionPlace::furnish(&options.temporary, FOLDER, |folder| {
        fs::create_dir(folder.join("config"))?;
        match &options.config {
            ConfigFolder::Kept(kept) => fs::create_dir_all(kept),
            ConfigFolder::OfTheUser | ConfigFolder::PerSession => Ok(()),
        }
    })
}
