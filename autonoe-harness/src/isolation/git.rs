//! Runs the program `git` with a safe configuration on a repository and its worktrees.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use autonoe_process::{CommandOutput, ProcessRunner};

use super::IsolationError;
use super::programs::{may_run_programs, program_overrides};

/// Maximum size of git's output, in bytes.
const LIMIT: usize = 64 * 1024 * 1024;

/// Settings that override those of the repository: no hooks, no prompts, no maintenance in the
/// background. Other settings that could run programs are overridden by name, see [`program_overrides`].
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

/// Runs git with the given environment and without the configuration of the user.
#[derive(Clone)]
pub struct Git {
    commands: ProcessRunner,
    time: Duration,
    repository: Option<Repository>,
    /// Settings in addition to [`SETTINGS`], hidden from process listings.
    settings: Vec<(String, String)>,
}

impl Git {
    /// Runs git with the environment of `commands`, each command for at most `time`.
    pub fn new(commands: ProcessRunner, time: Duration) -> Self {
        // Variables that point git to another repository or index must not pass.
        let is_allowed = |name: &std::ffi::OsStr| !name.as_encoded_bytes().starts_with(b"GIT_");
        let commands = commands.retain_env(is_allowed).envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "/bin/false"),
            ("GIT_EDITOR", "/bin/false"),
            ("GIT_PAGER", "cat"),
            // Nothing is fetched, whatever the settings say: fetching could run programs as well.
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("LC_ALL", "C"),
        ]);
        Self {
            commands,
            time,
            repository: None,
            settings: Vec::new(),
        }
    }

    /// Restricts git to one repository, whatever the folders say.
    pub fn for_repository(mut self, repository: Repository) -> Self {
        self.repository = Some(repository);
        self
    }

    /// Sets the time limit of a command.
    pub fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Adds settings that override those of the repository. Values may be secrets.
    pub fn with_settings(mut self, settings: &[(String, String)]) -> Self {
        self.settings.extend_from_slice(settings);
        self
    }

    /// Allows network access, through one protocol only.
    pub fn allow_protocol(mut self, protocol: &str) -> Self {
        self.commands = self.commands.env("GIT_ALLOW_PROTOCOL", protocol);
        self
    }

    /// Makes each git process hold `lock` as long as it lives.
    pub fn holding_lock(&self, lock: &Arc<File>) -> Self {
        Self {
            commands: self.commands.clone().inherit(lock.clone()),
            ..self.clone()
        }
    }

    /// Runs git in `folder`, and returns its output even if it failed.
    pub async fn try_run<S: AsRef<str>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<CommandOutput, IsolationError> {
        let commands = self.commands_in(folder, arguments).await?;
        self.run(&commands, arguments).await
    }

    /// Sets the repository, and overrides settings that could run programs.
    async fn commands_in<S: AsRef<str>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<ProcessRunner, IsolationError> {
        let commands = self.commands.clone().directory(folder);
        let Some(repository) = &self.repository else {
            return Ok(commands);
        };
        let commands = commands
            .env("GIT_DIR", repository.dir_of(folder)?)
            .env("GIT_WORK_TREE", folder)
            .env("GIT_COMMON_DIR", &repository.common);
        if !may_run_programs(arguments) {
            return Ok(set(commands, self.settings.iter().cloned()));
        }
        // Immediately before each run: an agent may have changed the settings in the meantime.
        let list = ["config", "--list", "--name-only", "-z"];
        let output = self.run(&commands, &list).await?;
        if !output.is_success() {
            return Err(failed(&list, &output));
        }
        let overrides = program_overrides(&text(&output.stdout))
            .into_iter()
            .map(|(name, value)| (name, value.to_owned()));
        Ok(set(
            commands,
            overrides.chain(self.settings.iter().cloned()),
        ))
    }

    async fn run<S: AsRef<str>>(
        &self,
        commands: &ProcessRunner,
        arguments: &[S],
    ) -> Result<CommandOutput, IsolationError> {
        let mut command = vec!["git".to_owned(), "--no-pager".to_owned()];
        for setting in SETTINGS {
            command.extend(["-c".to_owned(), setting.to_owned()]);
        }
        let arguments_of = arguments.iter().map(AsRef::as_ref);
        command.extend(arguments_of.map(str::to_owned));
        let output = commands.output(&command, self.time, LIMIT).await;
        let output = output.map_err(|source| IsolationError::Command {
            doing: command_text(arguments),
            source,
        })?;
        let is_whole = output.is_complete || !output.is_success();
        if is_whole {
            Ok(output)
        } else {
            Err(failed(arguments, &output))
        }
    }

    /// Runs git in `folder`, and returns its stdout without the line end.
    ///
    /// # Errors
    ///
    /// It did not succeed.
    pub async fn run_ok<S: AsRef<str>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<String, IsolationError> {
        let output = self.try_run(folder, arguments).await?;
        if output.is_success() {
            Ok(text(&output.stdout).trim_end_matches('\n').to_owned())
        } else {
            Err(failed(arguments, &output))
        }
    }
}

impl fmt::Debug for Git {
    // Settings may contain secrets, so they are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Git")
            .field("commands", &self.commands)
            .field("repository", &self.repository)
            .finish_non_exhaustive()
    }
}

/// Passes settings to git through the environment. Arguments are readable by every user of the
/// machine, and a name that contains `=` would be misparsed there.
fn set(commands: ProcessRunner, settings: impl Iterator<Item = (String, String)>) -> ProcessRunner {
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

/// Returns the error of a failed git command.
pub fn failed<S: AsRef<str>>(arguments: &[S], output: &CommandOutput) -> IsolationError {
    IsolationError::Git {
        doing: command_text(arguments),
        status: output.end.to_string(),
        output: output_text(output),
    }
}

/// Returns the output of git, for people.
pub fn output_text(output: &CommandOutput) -> String {
    let words = format!("{}\n{}", output.stderr.trim(), text(&output.stdout).trim());
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join(" ")
}

fn command_text<S: AsRef<str>>(arguments: &[S]) -> String {
    let mut rest = arguments.iter().map(AsRef::as_ref).peekable();
    // Settings are left out: they may contain the name of a person.
    while rest.next_if_eq(&"-c").is_some() {
        rest.next();
    }
    rest.collect::<Vec<_>>().join(" ")
}

/// Returns the output of git as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A repository, and the git directories of its worktrees.
///
/// The file `.git` of a worktree names its git directory, but an agent can write that file. So the
/// repository is the authority, and a worktree that contradicts it is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The work tree that was opened.
    pub top: PathBuf,
    /// The git directory of that work tree.
    pub dir: PathBuf,
    /// The common git directory of the repository, `.git`.
    pub common: PathBuf,
}

impl Repository {
    /// Returns the git directory of the work tree in `folder`.
    ///
    /// # Errors
    ///
    /// It is not a work tree of this repository, or its file `.git` contradicts that.
    pub(super) fn dir_of(&self, folder: &Path) -> Result<PathBuf, IsolationError> {
        if folder == self.top {
            return Ok(self.dir.clone());
        }
        if let Some(admin) = self.admin_of(folder)? {
            check_link(folder, &admin)?;
            return Ok(admin);
        }
        let is_main = self.common == folder.join(".git");
        is_main
            .then(|| self.common.clone())
            .ok_or_else(|| foreign(folder, "no repository"))
    }

    /// Finds the git directory of the worktree in `folder`, without accessing the worktree.
    ///
    /// # Errors
    ///
    /// Two git directories claim that folder.
    pub(super) fn admin_of(&self, folder: &Path) -> Result<Option<PathBuf>, IsolationError> {
        let mut admins = self.admins().filter(|admin| is_about(admin, folder));
        match (admins.next(), admins.next()) {
            (_, Some(_)) => Err(foreign(folder, "two entries of its repository")),
            (found, None) => Ok(found),
        }
    }

    /// Returns whether the worktree is no longer in the location that `admin` names.
    pub(super) fn has_lost(&self, admin: &Path) -> bool {
        let link = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
        let target = admin.join(link.trim_end_matches('\n'));
        target
            .parent()
            .is_none_or(|folder| check_link(folder, admin).is_err())
    }

    /// Lists the git directories of all worktrees.
    pub(super) fn admins(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.common.join("worktrees"));
        let entries = entries.into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    }
}

fn is_about(admin: &Path, folder: &Path) -> bool {
    let link = fs::read_to_string(admin.join("gitdir")).unwrap_or_default();
    let target = admin.join(link.trim_end_matches('\n'));
    let Some(target) = target
        .parent()
        .filter(|_| target.file_name() == Some(".git".as_ref()))
    else {
        return false;
    };
    let is_same = || Some(target.canonicalize().ok()? == folder.canonicalize().ok()?);
    target == folder || is_same().unwrap_or(false)
}

/// Checks that the file `.git` of a worktree names `admin`.
fn check_link(folder: &Path, admin: &Path) -> Result<(), IsolationError> {
    let file = folder.join(".git");
    let is_file = match file.symlink_metadata() {
        Ok(found) => found.is_file(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(foreign(folder, "no repository"));
        }
        Err(error) => return Err(IsolationError::io(file)(error)),
    };
    if !is_file {
        return Err(foreign(folder, "a repository of its own"));
    }
    let text = fs::read(&file).map_err(IsolationError::io(&file))?;
    let text = super::git::text(&text);
    let target = text
        .trim_end_matches('\n')
        .strip_prefix("gitdir: ")
        .unwrap_or_default();
    let real = |path: &Path| path.canonicalize().ok();
    if real(&folder.join(target)).is_some_and(|target| Some(target) == real(admin)) {
        Ok(())
    } else {
        Err(foreign(folder, target))
    }
}

fn foreign(folder: &Path, found: &str) -> IsolationError {
    IsolationError::Foreign {
        folder: folder.to_owned(),
        found: found.to_owned(),
    }
}
