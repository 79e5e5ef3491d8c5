//! What can be chosen about the program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::ConfigFolder;

/// What can be chosen about the program, the same for all sessions.
///
/// What differs from session to session, such as the model or the budget, is in
/// the [`SessionSpec`](autonoe_core::SessionSpec).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClaudeOptions {
    /// The program.
    pub program: PathBuf,
    /// The environment that it starts with: at least `PATH` and `HOME`, and the credentials.
    pub environment: BTreeMap<OsString, OsString>,
    /// Where the temporary folders of sessions are made.
    pub temporary: PathBuf,
    /// Where it keeps its login and conversations.
    pub config: ConfigFolder,
    /// The built-in tools that the agent has. Whether a call may happen is for the gate.
    pub tools: Vec<String>,
    /// Rules of the program that refuse calls, as a second wall behind the gate.
    ///
    /// A rule about writing is written `Edit(path)`, whatever the tool, and an
    /// absolute path begins with two slashes: `Edit(//tmp/**)`. Others have no effect.
    pub deny: Vec<String>,
    /// Which settings files of the project count.
    pub setting_sources: SettingSources,
    /// How long the answer to a question about a tool may take. Then the call is refused.
    pub answer_limit: Duration,
    /// How long the program may take to start.
    pub start_limit: Duration,
    /// How long the program may say nothing while it works.
    pub silence_limit: Duration,
    /// How long tasks in the background may say nothing after the last turn. Then they are ended:
    /// a server that an agent left running never ends by itself.
    pub task_limit: Duration,
}

impl ClaudeOptions {
    /// Makes the options for `program`, which starts with `environment`.
    pub fn new(
        program: impl Into<PathBuf>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            program: program.into(),
            environment: environment.into_iter().collect(),
            temporary: PathBuf::from("/tmp"),
            config: ConfigFolder::default(),
            tools: ["Read", "Write", "Edit", "Glob", "Grep", "Bash"]
                .map(str::to_owned)
                .into(),
            deny: vec!["Edit(./.autonoe/**)".into(), "Edit(./.git/**)".into()],
            setting_sources: SettingSources::default(),
            answer_limit: Duration::from_secs(60),
            start_limit: Duration::from_secs(120),
            silence_limit: Duration::from_secs(20 * 60),
            task_limit: Duration::from_secs(5 * 60),
        }
    }
}

/// Which settings files count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SettingSources {
    /// None: no settings, no `CLAUDE.md`, no `.mcp.json`.
    #[default]
    None,
    /// Those of the project. Its hooks, its environment and its `CLAUDE.md` then apply.
    Project,
}

impl SettingSources {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Project => "project",
        }
    }
}
