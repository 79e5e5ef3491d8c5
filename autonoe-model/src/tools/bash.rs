//! The tool [`Bash`], which runs commands, and [`CommandReport`], their output for the agent.

mod repository;
mod shell;

use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDescription, ToolErrorCode};
use autonoe_core::{ToolContext, ToolError, ToolOutput, TypedTool};
use autonoe_process::{Exit, Process, ShutdownPolicy, ShutdownReport, StartedProcess};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::time::{sleep, timeout};

use self::repository::Repository;
use super::config::ToolLimits;
use super::file_tool::{cancelled, invalid, system};
use super::head_and_tail::HeadAndTail;

pub(super) use self::shell::Shell;

/// Size of the read buffer in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// Maximum time to read the remaining output after all processes have ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs a command in Bash, in a sandbox of the operating system.
///
/// Each command starts in the root of the workspace and with the same environment. When it ends,
/// times out, is cancelled or dropped, all processes that it has started are killed. Standard
/// output and error are combined into one text, of which the beginning and the end are kept.
#[derive(Debug)]
pub(super) struct Bash {
    pub(super) shell: Shell,
    pub(super) limits: ToolLimits,
}

/// Input of [`Bash`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BashInput {
    /// The command.
    pub command: String,
    /// Time limit in milliseconds.
    #[serde(default)]
    pub timeout: Option<u64>,
    /// Summary of the command, in five to ten words.
    #[serde(default)]
    #[expect(dead_code, reason = "for people who read the call")]
    pub description: Option<String>,
}

impl Bash {
    /// Returns the time limit of a command that requests `requested` milliseconds.
    fn time_for(&self, requested: Option<u64>) -> Result<Duration, ToolError> {
        let longest = self.limits.longest_command_time;
        match requested.map(Duration::from_millis) {
            None => Ok(self.limits.command_time),
            Some(Duration::ZERO) => Err(invalid("timeout must be more than 0 milliseconds")),
            Some(requested) if requested <= longest => Ok(requested),
            Some(_) => Err(invalid(format!(
                "timeout is {} milliseconds at most",
                longest.as_millis()
            ))),
        }
    }
}

#[async_trait]
impl TypedTool for Bash {
    type Input = BashInput;

    fn describe(&self) -> ToolDescription {
        let description = format!(
            "Runs a command in Bash and returns its output and its exit code. Each command \
             starts in the root of the workspace; a `cd` does not last. {} It may take {} \
             milliseconds unless timeout says otherwise ({} at most). When it ends, its \
             background processes are killed. The middle of an output of more than {} bytes is \
             left out.",
            self.shell.describe_environment(),
            self.limits.command_time.as_millis(),
            self.limits.longest_command_time.as_millis(),
            self.limits.output_bytes
        );
        ToolDescription::new("Bash", description)
    }

    async fn run(&self, input: BashInput, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        if input.command.trim().is_empty() || input.command.contains('\0') {
            return Err(invalid("the command is empty or contains a NUL byte"));
        }
        let time = self.time_for(input.timeout)?;
        let repository = self.shell.repository();
        let sandbox = self.shell.sandbox_with(repository.as_ref());
        let launch = self.shell.launch(&input.command, sandbox, context)?;
        let started = launch.start().await.map_err(|error| {
            let reason = with_causes(&error);
            ToolError::new(
                ToolErrorCode::CONFIG_ERROR,
                format!("the command was not started: {reason}"),
            )
        })?;
        let mut output = HeadAndTail::new(self.limits.output_bytes);
        let (ended, process, mut stdout) = watch(started, time, context, &mut output).await;
        // Everything is killed: background processes do not outlive their command.
        let end = process.shutdown(ShutdownPolicy::kill_at_once()).await;
        let _ = timeout(DRAIN_TIMEOUT, read_on(&mut stdout, &mut output)).await;
        if let Some(repository) = repository {
            clean_up(&repository, &mut output)?;
        }
        match ended {
            CommandEnd::Cancelled => Err(cancelled()),
            ended => CommandReport {
                ended,
                time,
                output,
                end,
                is_sandboxed: self.shell.is_sandboxed(),
            }
            .into_output(),
        }
    }
}

/// Removes a redirection of git's directory, and notes this in the output.
fn clean_up(repository: &Repository, output: &mut HeadAndTail) -> Result<(), ToolError> {
    match repository.clean_up() {
        Ok(false) => Ok(()),
        Ok(true) => {
            output.push(
                b"\n[.git/commondir was removed: commands must not redirect git to another \
                  directory]\n",
            );
            Ok(())
        }
        Err(error) => Err(system(".git/commondir could not be removed", error)),
    }
}

/// Reads the output of the command until it ends, times out or is cancelled.
async fn watch(
    started: StartedProcess,
    time: Duration,
    context: &ToolContext,
    output: &mut HeadAndTail,
) -> (CommandEnd, Process, autonoe_process::Stdout) {
    let StartedProcess {
        process,
        stdin,
        mut stdout,
    } = started;
    close(stdin).await;
    let exited = process.exited();
    let ended = {
        let reading = read_on(&mut stdout, output);
        tokio::pin!(exited, reading);
        let mut is_open = true;
        let over = sleep(time);
        tokio::pin!(over);
        loop {
            tokio::select! {
                biased;
                () = context.cancelled.cancelled() => break CommandEnd::Cancelled,
                () = &mut over => break CommandEnd::TimedOut,
                exit = &mut exited => break CommandEnd::Exited(exit),
                () = &mut reading, if is_open => is_open = false,
            }
        }
    };
    (ended, process, stdout)
}

/// Closes stdin, so that prompts fail instead of waiting for input.
async fn close(mut stdin: autonoe_process::Stdin) {
    use tokio::io::AsyncWriteExt;
    let _ = stdin.shutdown().await;
}

/// Reads to the end of the output.
async fn read_on(stdout: &mut autonoe_process::Stdout, output: &mut HeadAndTail) {
    let mut piece = vec![0; BUFFER_BYTES];
    while let Ok(count @ 1..) = stdout.read(&mut piece).await {
        output.push(&piece[..count]);
    }
}

/// Formats an error with its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

/// Returns the exit code in the convention of shells.
fn code_of(exit: Exit) -> Option<i32> {
    match exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(number) => Some(128 + number),
        Exit::Unknown => None,
    }
}

/// End of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandEnd {
    Exited(Exit),
    TimedOut,
    Cancelled,
}

/// Facts about a command at its end.
#[derive(Debug)]
struct CommandReport {
    ended: CommandEnd,
    time: Duration,
    output: HeadAndTail,
    end: ShutdownReport,
    is_sandboxed: bool,
}

impl CommandReport {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        self.refuse_without_sandbox()?;
        let mut text = self.output.text();
        if text.is_empty() {
            text.push_str("[no output]");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let mut output = ToolOutput::default();
        match self.ended {
            CommandEnd::Exited(exit) => {
                let code = code_of(exit);
                if !exit.is_success() {
                    let status =
                        code.map_or_else(|| exit.to_string(), |code| format!("exit code {code}"));
                    text.push_str(&format!("[{status}]\n"));
                }
                output = output
                    .with_title("Ran a command")
                    .with_metadata("exitCode", code);
            }
            // The command may already have changed something, so this is an output with an error in
            // its metadata: a `ToolError` would promise that nothing has changed.
            CommandEnd::TimedOut | CommandEnd::Cancelled => {
                let limit = self.time.as_millis();
                text.push_str(&format!(
                    "[killed after {limit} milliseconds, with its background processes; set \
                     timeout if it needs longer]\n"
                ));
                output = output
                    .with_title("A command took too long")
                    .with_metadata("error", ToolErrorCode::TIMEOUT.as_str())
                    .with_metadata("exitCode", None::<i32>);
            }
        }
        if !self.end.is_complete() {
            let count = self.end.left.len();
            text.push_str(&format!("[{count} processes could not be killed]\n"));
        }
        output.output = text;
        Ok(output.with_metadata("leftOutBytes", self.output.left_out()))
    }

    /// Fails if bubblewrap could not start the command. Only bubblewrap itself writes to this
    /// stderr, because that of the command is redirected.
    fn refuse_without_sandbox(&self) -> Result<(), ToolError> {
        let stderr = self.end.stderr_tail.trim();
        let failed = self.is_sandboxed
            && self.ended == CommandEnd::Exited(Exit::Code(1))
            && stderr.starts_with("bwrap:");
        if failed {
            Err(ToolError::new(
                ToolErrorCode::CONFIG_ERROR,
                format!("the command was not started, because the sandbox failed: {stderr}"),
            ))
        } else {
            Ok(())
        }
    }
}
