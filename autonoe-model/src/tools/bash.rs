//! The tool that runs commands.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{ToolContext, ToolDescription, ToolError, ToolErrorCode, ToolOutput, TypedTool};
use autonoe_process::{Exit, Ladder, Process, Started};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::time::{sleep, timeout};

mod report;
mod repository;
mod shell;

pub(super) use self::shell::Shell;

use self::report::{Ended, Report};
use self::repository::Repository;
use super::ToolLimits;
use super::failure::{cancelled, invalid, system};
use super::head_and_tail::HeadAndTail;

/// As much is read at once.
const PIECE: usize = 64 * 1024;

/// How long the rest of the output is waited for when everybody who could write it is gone.
const REST: Duration = Duration::from_secs(2);

/// Runs a command in Bash, in a sandbox of the operating system.
///
/// Each command starts in the root of the workspace and with the same environment. When it
/// ends, takes too long, is cancelled or dropped, everything that it has started is ended too.
/// Standard output and error are one text, of which the beginning and the end are kept.
#[derive(Debug)]
pub struct Bash {
    shell: Arc<Shell>,
    limits: ToolLimits,
}

/// What [`Bash`] is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BashInput {
    /// The command.
    pub command: String,
    /// How many milliseconds it may take.
    #[serde(default)]
    pub timeout: Option<u64>,
    /// What the command does, in five to ten words.
    #[serde(default)]
    pub description: Option<String>,
}

impl Bash {
    /// The name of the tool.
    pub const NAME: &'static str = "Bash";

    pub(super) fn new(shell: Arc<Shell>, limits: ToolLimits) -> Self {
        Self { shell, limits }
    }

    /// Returns how long a command may take that asks for `wanted` milliseconds.
    fn time_for(&self, wanted: Option<u64>) -> Result<Duration, ToolError> {
        let longest = self.limits.longest_command_time;
        match wanted.map(Duration::from_millis) {
            None => Ok(self.limits.command_time),
            Some(Duration::ZERO) => Err(invalid("timeout must be more than 0 milliseconds")),
            Some(wanted) if wanted <= longest => Ok(wanted),
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
            "Runs a command in Bash and gives back its output and its exit code. Each command \
             starts in the root of the workspace; a `cd` does not last. {} It may take {} \
             milliseconds unless timeout says otherwise ({} at most). When it ends, so does all \
             that it has started in the background. Of an output of more than {} bytes the \
             middle is left out.",
            self.shell.surroundings(),
            self.limits.command_time.as_millis(),
            self.limits.longest_command_time.as_millis(),
            self.limits.output_bytes
        );
        ToolDescription::new(Self::NAME, description)
    }

    async fn run(&self, input: BashInput, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        if input.command.trim().is_empty() || input.command.contains('\0') {
            return Err(invalid("the command is empty or has a zero byte in it"));
        }
        let time = self.time_for(input.timeout)?;
        let repository = self.shell.repository();
        let sandbox = self.shell.confined_with(repository.as_ref());
        let launch = self.shell.launch(&input.command, sandbox, context)?;
        let started = launch.start().await.map_err(|error| {
            let why = with_causes(&error);
            ToolError::new(
                ToolErrorCode::CONFIG_ERROR,
                format!("the command was not started: {why}"),
            )
        })?;
        let mut output = HeadAndTail::new(self.limits.output_bytes);
        let (ended, process, mut stdout) = watch(started, time, context, &mut output).await;
        // Everything is killed: what a command leaves in the background does not outlive it.
        let end = process.shut_down(Ladder::kill_at_once()).await;
        let _ = timeout(REST, read_on(&mut stdout, &mut output)).await;
        if let Some(repository) = repository {
            clean_up(&repository, &mut output)?;
        }
        match ended {
            Ended::Cancelled => Err(cancelled()),
            ended => Report {
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

/// Takes away what would lead git elsewhere, and says so.
fn clean_up(repository: &Repository, output: &mut HeadAndTail) -> Result<(), ToolError> {
    match repository.clean_up() {
        Ok(false) => Ok(()),
        Ok(true) => {
            output.push(b"\n[.git/commondir was removed: no command may lead git elsewhere]\n");
            Ok(())
        }
        Err(error) => Err(system("what leads git elsewhere was not removed", error)),
    }
}

/// Reads what the command says until it ends, or may not go on.
async fn watch(
    started: Started,
    time: Duration,
    context: &ToolContext,
    output: &mut HeadAndTail,
) -> (Ended, Process, autonoe_process::Stdout) {
    let Started {
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
                () = context.cancelled.cancelled() => break Ended::Cancelled,
                () = &mut over => break Ended::TimedOut,
                exit = &mut exited => break Ended::Exited(exit),
                () = &mut reading, if is_open => is_open = false,
            }
        }
    };
    (ended, process, stdout)
}

/// Nobody types anything: what asks fails instead of waiting.
async fn close(mut stdin: autonoe_process::Stdin) {
    use tokio::io::AsyncWriteExt;
    let _ = stdin.shutdown().await;
}

/// Reads to the end.
async fn read_on(stdout: &mut autonoe_process::Stdout, output: &mut HeadAndTail) {
    let mut piece = vec![0; PIECE];
    while let Ok(count @ 1..) = stdout.read(&mut piece).await {
        output.push(&piece[..count]);
    }
}

/// Returns what an error says and why.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

/// How a command ended, as a shell says it.
fn code_of(exit: Exit) -> Option<i32> {
    match exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(number) => Some(128 + number),
        Exit::Unknown => None,
    }
}
