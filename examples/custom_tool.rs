//! A typed tool that reports its progress.
//!
//! Run it with `cargo run --example custom_tool`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::schemars::JsonSchema;
use autonoe_core::tool::{ToolDescription, ToolErrorCode};
use autonoe_core::{
    RunControl, RunEvent, RunEventKind, SessionRunner, StreamEvent, ToolContext, ToolError,
    ToolOutput, TypedTool, async_trait,
};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use serde::Deserialize;
use serde_json::json;

/// The input of the tool; agents see these comments as its schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "autonoe_core::schemars")]
struct CountLines {
    /// A file name in the project.
    file: String,
}

/// Counts the lines of files in a directory.
struct LineCounter(PathBuf);

#[async_trait]
impl TypedTool for LineCounter {
    type Input = CountLines;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("count_lines", "Counts the lines of a file.").read_only()
    }

    async fn run(&self, input: CountLines, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let file = input.file;
        if file.contains(['/', '\\']) || file.starts_with('.') {
            let message = format!("{file:?} is not a file name in the project");
            return Err(ToolError::new(ToolErrorCode::VALIDATION_ERROR, message));
        }
        context.progress(&format!("counting {file}"));
        let text = fs::read_to_string(self.0.join(&file))
            .map_err(|error| ToolError::new(ToolErrorCode::NOT_FOUND, error.to_string()))?;
        Ok(ToolOutput::json(&json!({"lines": text.lines().count()})))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    fs::write(
        project.path().join("SPEC.md"),
        "# Shop\n\nA user can log in.\n",
    )?;
    let count = "mcp__autonoe__count_lines";
    let counts = SessionScript::new("counts")
        .uses_tool(count, json!({"file": "SPEC.md"}))
        .fails_tool(count, json!({"file": "../SPEC.md"}))
        .fails_tool(count, json!({"files": "SPEC.md"}));
    let texts = [(InstructionName::Initializer, "Plan what SPEC.md asks for.")];
    let runner = SessionRunner::builder(project.path())
        .agents(ScriptedBackend::new([counts.ends()]))
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new(texts))
        .tool(LineCounter(project.path().to_owned()).into_tool())
        .observer(|event: &RunEvent<'_>| match &event.kind {
            RunEventKind::ToolProgress { title, .. } => println!("{title} ..."),
            RunEventKind::Agent {
                stream: StreamEvent::ToolResponse { output, status, .. },
            } => println!("{status:?}: {output}"),
            _ => {}
        })
        .max_iterations(1)
        .build()?;
    runner.run(&RunControl::new()).await;
    Ok(())
}
