//! [`CommandReport`]: output of a command for the agent.

use std::time::Duration;

use autonoe_core::tool::ToolErrorCode;
use autonoe_core::{ToolError, ToolOutput};
use autonoe_process::{Exit, ShutdownReport};

use super::code_of;
use crate::tools::head_and_tail::HeadAndTail;

/// End of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandEnd {
    Exited(Exit),
    TimedOut,
    Cancelled,
}

/// Facts about a command at its end.
#[derive(Debug)]
pub(super) struct CommandReport {
    pub(super) ended: CommandEnd,
    pub(super) time: Duration,
    pub(super) output: HeadAndTail,
    pub(super) end: ShutdownReport,
    pub(super) is_sandboxed: bool,
}

impl CommandReport {
    pub(super) fn into_output(self) -> Result<ToolOutput, ToolError> {
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
                    let how =
                        code.map_or_else(|| exit.to_string(), |code| format!("exit code {code}"));
                    text.push_str(&format!("[{how}]\n"));
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
