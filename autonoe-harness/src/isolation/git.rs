//! The program `git`.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autonoe_process::{CommandOutput, Commands};

use super::IsolationError;

/// How much of what git says is read.
const LIMIT: usize = 64 * 1024 * 1024;

/// Settings that hold whatever those of the repository are: nothing of it runs programs behind our
/// back, nothing asks, nothing is tidied up at the wrong time.
const SETTINGS: [&str; 11] = [
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
];

/// Runs git, with the environment that was given and without the settings of the user.
#[derive(Clone, Debug)]
pub(super) struct Git {
    commands: Commands,
    time: Duration,
}

impl Git {
    pub(super) fn new(commands: Commands, time: Duration) -> Self {
        // A variable that points git to another repository or index must not get through.
        let is_ours = |name: &std::ffi::OsStr| !name.as_encoded_bytes().starts_with(b"GIT_");
        let commands = commands.only_env(is_ours).envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "/bin/false"),
            ("GIT_EDITOR", "/bin/false"),
            ("GIT_PAGER", "cat"),
            ("LC_ALL", "C"),
        ]);
        Self { commands, time }
    }

    pub(super) fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Has each git hold `lock` as long as it lives.
    pub(super) fn holding(&self, lock: &Arc<File>) -> Self {
        Self {
            commands: self.commands.clone().inherit(lock.clone()),
            time: self.time,
        }
    }

    /// Runs git in `folder`, whatever comes of it.
    pub(super) async fn attempt<S: AsRef<str>>(
        &self,
        folder: &Path,
        arguments: &[S],
    ) -> Result<CommandOutput, IsolationError> {
        let mut command = vec!["git".to_owned(), "--no-pager".to_owned()];
        for setting in SETTINGS {
            command.extend(["-c".to_owned(), setting.to_owned()]);
        }
        command.extend(
            arguments
                .iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        let commands = self.commands.clone().in_directory(folder);
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
    pub(super) async fn ask<S: AsRef<str>>(
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

/// Says what git failed to do.
pub(super) fn failed<S: AsRef<str>>(arguments: &[S], said: &CommandOutput) -> IsolationError {
    IsolationError::Git {
        doing: doing(arguments),
        how: said.end.to_string(),
        said: words(said),
    }
}

/// Returns what git said, for people.
pub(super) fn words(said: &CommandOutput) -> String {
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

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
