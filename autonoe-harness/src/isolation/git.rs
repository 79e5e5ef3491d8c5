//! The program `git`.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autonoe_process::{CommandOutput, Commands};

use super::IsolationError;
use super::programs::{Programs, disarmed, may_run};
use super::repository::Repository;

/// How much of what git says is read.
const LIMIT: usize = 64 * 1024 * 1024;

/// Settings that hold whatever those of the repository are: no hook runs, nothing asks, nothing is
/// tidied up at the wrong time. What else could run programs is replaced by its name, see
/// [`disarmed`].
const SETTINGS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgSign=false",
    "merge.verifySignatures=false",
    "merge.autoStash=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "branch.autoSetupMerge=false",
    "advice.detachedHead=false",
    "core.quotePath=false",
    "merge.default=text",
    "rerere.enabled=false",
    "worktree.useRelativePaths=false",
];

/// Runs git, with the environment that was given and without the settings of the user.
#[derive(Clone)]
pub(crate) struct Git {
    commands: Commands,
    time: Duration,
    repository: Option<Repository>,
    programs: Programs,
    /// What holds beside [`SETTINGS`], and is seen by nobody who lists processes.
    settings: Vec<(String, String)>,
}

impl Git {
    pub(crate) fn new(commands: Commands, time: Duration) -> Self {
        // A variable that points git to another repository or index must not get through.
        let is_ours = |name: &std::ffi::OsStr| !name.as_encoded_bytes().starts_with(b"GIT_");
        let commands = commands.only_env(is_ours).envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "/bin/false"),
            ("GIT_EDITOR", "/bin/false"),
            ("GIT_PAGER", "cat"),
            // Nothing is fetched, whatever the settings say: that could run programs as well.
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("LC_ALL", "C"),
        ]);
        Self {
            commands,
            time,
            repository: None,
            programs: Programs::default(),
            settings: Vec::new(),
        }
    }

    /// Has git look at no other repository, whatever the folders say.
    pub(crate) fn of(mut self, repository: Repository) -> Self {
        self.repository = Some(repository);
        self
    }

    pub(super) fn with_programs(mut self, programs: Programs) -> Self {
        self.programs = programs;
        self
    }

    pub(super) fn programs(&self) -> Programs {
        self.programs
    }

    pub(crate) fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets more, over all that the repository says. Values may be secrets.
    pub(crate) fn with_settings(mut self, settings: &[(String, String)]) -> Self {
        self.settings.extend_from_slice(settings);
        self
    }

    /// Lets git talk to others, by one protocol only.
    pub(crate) fn reaching(mut self, protocol: &str) -> Self {
        self.commands = self.commands.env("GIT_ALLOW_PROTOCOL", protocol);
        self
    }

    /// Has each git hold `lock` as long as it lives.
    pub(crate) fn holding(&self, lock: &Arc<File>) -> Self {
        Self {
            commands: self.commands.clone().inherit(lock.clone()),
            ..self.clone()
        }
    }

    /// Runs git in `folder`, whatever comes of it.
    pub(crate) async fn attempt<S: AsRef<str>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<CommandOutput, IsolationError> {
        let commands = self.commands_in(folder, arguments).await?;
        self.run(&commands, arguments).await
    }

    /// Says where git is to look, and takes out of its settings what could run programs.
    async fn commands_in<S: AsRef<str>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<Commands, IsolationError> {
        let commands = self.commands.clone().in_directory(folder);
        let Some(repository) = &self.repository else {
            return Ok(commands);
        };
        let commands = commands
            .env("GIT_DIR", repository.dir_of(folder)?)
            .env("GIT_WORK_TREE", folder)
            .env("GIT_COMMON_DIR", &repository.common);
        if self.programs == Programs::Allowed || !may_run(arguments) {
            return Ok(set(commands, self.settings.iter().cloned()));
        }
        // Each time, right before: an agent may have changed them meanwhile.
        let list = ["config", "--list", "--name-only", "-z"];
        let said = self.run(&commands, &list).await?;
        if !said.is_success() {
            return Err(failed(&list, &said));
        }
        let instead = disarmed(&text(&said.stdout)).into_iter();
        let instead = instead.map(|(name, value)| (name, value.to_owned()));
        Ok(set(commands, instead.chain(self.settings.iter().cloned())))
    }

    async fn run<S: AsRef<str>>(
        &self,
        commands: &Commands,
        arguments: &[S],
    ) -> Result<CommandOutput, IsolationError> {
        let mut command = vec!["git".to_owned(), "--no-pager".to_owned()];
        for setting in SETTINGS {
            command.extend(["-c".to_owned(), setting.to_owned()]);
        }
        let arguments_of = arguments.iter().map(AsRef::as_ref);
        command.extend(arguments_of.map(str::to_owned));
        let said = commands.output(&command, self.time, LIMIT).await;
        let said = said.map_err(|source| IsolationError::Command {
            doing: doing(arguments),
            source,
        })?;
        let is_whole = said.is_complete || !said.is_success();
        match is_whole {
            true => Ok(said),
            false => Err(failed(arguments, &said)),
        }
    }

    /// Runs git in `folder` and returns what it says, without the line end.
    ///
    /// # Errors
    ///
    /// It did not succeed.
    pub(crate) async fn ask<S: AsRef<str>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<String, IsolationError> {
        let said = self.attempt(folder, arguments).await?;
        match said.is_success() {
            true => Ok(text(&said.stdout).trim_end_matches('\n').to_owned()),
            false => Err(failed(arguments, &said)),
        }
    }
}

impl fmt::Debug for Git {
    // Settings may hold secrets, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Git")
            .field("commands", &self.commands)
            .field("repository", &self.repository)
            .field("programs", &self.programs)
            .finish_non_exhaustive()
    }
}

/// Gives settings to git. Not as arguments, which everybody on the machine can read, and where a name
/// with `=` in it would be understood as another.
fn set(commands: Commands, settings: impl Iterator<Item = (String, String)>) -> Commands {
    let mut count = 0;
    let commands = settings.fold(commands, |commands, (name, value)| {
        let number = count;
        count += 1;
        commands
            .env(format!("GIT_CONFIG_KEY_{number}"), name)
            .env(format!("GIT_CONFIG_VALUE_{number}"), value)
    });
    commands.env("GIT_CONFIG_COUNT", count.to_string())
}

/// Says what git failed to do.
pub(crate) fn failed<S: AsRef<str>>(arguments: &[S], said: &CommandOutput) -> IsolationError {
    IsolationError::Git {
        doing: doing(arguments),
        how: said.end.to_string(),
        said: words(said),
    }
}

/// Returns what git said, for people.
pub(crate) fn words(said: &CommandOutput) -> String {
    let words = format!("{}\n{}", said.stderr.trim(), text(&said.stdout).trim());
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join(" ")
}

fn doing<S: AsRef<str>>(arguments: &[S]) -> String {
    let mut rest = arguments.iter().map(AsRef::as_ref).peekable();
    // Settings are left out: they may name a person.
    while rest.next_if_eq(&"-c").is_some() {
        rest.next();
    }
    rest.collect::<Vec<_>>().join(" ")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
