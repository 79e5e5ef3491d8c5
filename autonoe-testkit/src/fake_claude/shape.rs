//! Lines as the real program wrote them, each the pattern for others.

use std::collections::HashMap;
use std::io;

use serde::Deserialize;
use serde_json::Value;

use super::Build;

/// The lines of a build, each as it was recorded once.
///
/// `recorded/` says for each which conversation it is from. Nothing is sent that is not made of one
/// of them, except where a fault asks for it.
#[derive(Debug)]
pub(super) struct Shapes(HashMap<Shape, Recorded>);

#[derive(Debug, Deserialize)]
struct Recorded {
    line: Value,
}

/// What a recorded line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// The answer to `initialize`.
    Initialize,
    /// The answer to `get_settings`.
    Settings,
    /// The answer to `mcp_status`.
    McpStatus,
    /// The answer to a request that it does not know.
    Unsupported,
    /// The answer to `interrupt`.
    Interrupt,
    /// The answer to `end_session`.
    EndSession,
    /// A turn begins.
    Init,
    /// It works, or is idle.
    State,
    /// The agent says something.
    Text,
    /// The agent thinks.
    Thinking,
    /// The agent calls a built-in tool.
    ToolUse,
    /// The agent calls a tool of an MCP server.
    McpToolUse,
    /// A call of the model failed, told as if the agent said it.
    ApiFailure,
    /// A hook is asked about a call.
    Hook,
    /// A question is withdrawn.
    Cancel,
    /// What a built-in tool came to.
    ToolResult,
    /// A built-in tool failed.
    ToolFailed,
    /// A file was written.
    FileWritten,
    /// A command runs in the background now.
    InBackground,
    /// A hook refused a call.
    ToolRefused,
    /// No hook allowed a call, and nothing else does.
    NotPermitted,
    /// A hook did not answer in time.
    HookLate,
    /// A call was given up because of an interruption.
    ToolRejected,
    /// What a tool of an MCP server came to.
    McpResult,
    /// A tool of an MCP server failed.
    McpFailed,
    /// The turn was interrupted.
    Interrupted,
    /// The turn was interrupted in a call.
    InterruptedInTool,
    /// An MCP server is greeted.
    McpInitialize,
    /// The greeting is over.
    McpInitialized,
    /// An MCP server is asked for its tools.
    McpList,
    /// A tool of an MCP server is called.
    McpCall,
    /// A call of such a tool is given up.
    McpCancelled,
    /// How the limits of a subscription are.
    RateLimit,
    /// A call of the model is tried again.
    Retry,
    /// A task begins.
    TaskStarted,
    /// A task changes.
    TaskUpdated,
    /// A task is over.
    TaskNotification,
    /// Which tasks live. Only newer builds tell.
    Tasks,
    /// A turn is done.
    Result,
    /// A turn had no more turns of the model.
    ResultMaxTurns,
    /// A turn had no more money.
    ResultBudget,
    /// A turn ended with a call of the model that failed.
    ResultApiFailure,
    /// A turn was interrupted.
    ResultInterrupted,
    /// A turn was interrupted in a call.
    ResultInterruptedInTool,
    /// The program could not start.
    ResultNotStarted,
}

impl Shapes {
    /// Reads the lines of `build`.
    ///
    /// # Errors
    ///
    /// They are broken, which a test rules out.
    pub(super) fn of(build: Build) -> io::Result<Self> {
        Ok(Self(serde_json::from_str(build.recorded())?))
    }

    /// Returns the line that says `shape`, or `None` if the build has none.
    pub(super) fn find(&self, shape: Shape) -> Option<Value> {
        self.0.get(&shape).map(|recorded| recorded.line.clone())
    }

    /// Returns the line that says `shape`.
    pub(super) fn get(&self, shape: Shape) -> Value {
        self.find(shape).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_build_has_every_line_but_those_of_newer_ones() {
        let old = Shapes::of(Build::V2_1_197).expect("readable");
        let new = Shapes::of(Build::V2_1_325).expect("readable");

        for shape in new.0.keys() {
            let only_new = *shape == Shape::Tasks;
            assert_eq!(old.find(*shape).is_some(), !only_new, "{shape:?}");
        }
        // With `ResultNotStarted` as the last one, none was forgotten in the file.
        assert_eq!(new.0.len(), Shape::ResultNotStarted as usize + 1);
    }
}
