//! What an agent is told of a command.

use std::time::Duration;

use autonoe_core::{ToolError, ToolErrorCode, ToolOutput};
use autonoe_process::{Exit, ShutDown};

use super::code_of;
use crate::tools::head_and_tail::HeadAndTail;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Exited(Exit),
    TimedOut,
    Cancelled,
}

/// All that is known of a command at its end.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) ended: Ended,
    pub(super) time: Duration,
    pub(super) output: HeadAndTail,
    pub(super) end: ShutDown,
    pub(super) is_sandboxed: bool,
}

impl Report {
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
            Ended::Exited(exit) => {
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
            // The command may have changed something already, so this is an output with an error
            // in its metadata: a `ToolError` of the tool would promise that it has not.
            Ended::TimedOut | Ended::Cancelled => {
                let limit = self.time.as_millis();
                text.push_str(&format!(
                    "[ended after {limit} milliseconds, with all that it had started; set timeout \
                     if it needs longer]\n"
                ));
                output = output
                    .with_title("A command took too long")
                    .with_metadata("error", ToolErrorCode::TIMEOUT.as_str())
                    .with_metadata("exitCode", None::<i32>);
            }
        }
        if !self.end.is_complete() {
            let count = self.end.left.len();
            text.push_str(&format!("[{count} processes could not be ended]\n"));
        }
        output.output = text;
        Ok(output.with_metadata("leftOutBytes", self.output.left_out()))
    }

    /// Whatever bubblewrap itself says, it says before the command: the command's standard
    /// error goes elsewhere.
    fn refuse_without_sandbox(&self) -> Result<(), ToolError> {
        let said = self.end.stderr_tail.trim();
        let failed = self.is_sandboxed
            && self.ended == Ended::Exited(Exit::Code(1))
            && said.starts_with("bwrap:");
        match failed {
            true => Err(ToolError::new(
                ToolErrorCode::CONFIG_ERROR,
                format!("the command was not started, for there is no sandbox: {said}"),
            )),
            false => Ok(()),
        }
    }
}
