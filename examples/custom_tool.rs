//! A tool of one's own, with a typed input, that tells how far it is.
//!
//! Run it with `cargo run --example custom_tool`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use autonoe_core::schemars::JsonSchema;
use autonoe_core::{
    FixedInstructions, InstructionName, MemoryRepository, RunControl, RunEvent, RunEventKind,
    SessionRunner, StreamEvent, ToolContext, ToolDescription, ToolError, ToolErrorCode, ToolOutput,
    TypedTool, async_trait,
};
use autonoe_scripted::{ScriptedAgents, SessionScript};
use serde::Deserialize;
use serde_json::json;

/// What the tool is called with; agents see these comments as its schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "autonoe_core::schemars")]
struct CountLines {
    /// File names in the project.
    files: Vec<String>,
}

/// Counts the lines of files.
struct LineCounter {
    project: PathBuf,
}

#[async_trait]
impl TypedTool for LineCounter {
    type Input = CountLines;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("count_lines", "Counts the lines of files.").read_only()
    }

    async fn run(&self, input: CountLines, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut lines = 0;
        for file in &input.files {
            let plain = !file.contains(['/', '\\']) && !file.starts_with('.');
            if !plain {
                let message = format!("{file:?} is not a file name in the project");
                return Err(ToolError::new(ToolErrorCode::VALIDATION_ERROR, message));
            }
            context.progress(&format!("counting {file}"));
            let text = fs::read_to_string(self.project.join(file)).map_err(|error| {
                ToolError::new(ToolErrorCode::NOT_FOUND, format!("{file}: {error}"))
            })?;
            lines += text.lines().count();
        }
        let title = format!("Counted {} files", input.files.len());
        Ok(ToolOutput::json(&json!({"lines": lines})).with_title(title))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    let spec = project.path().join("SPEC.md");
    fs::write(spec, "# Shop\n\nA user can log in.\n")?;

    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
    ]});
    let agents = ScriptedAgents::new([SessionScript::new("plans")
        .uses_tool("mcp__autonoe__count_lines", json!({"files": ["SPEC.md"]}))
        .fails_tool(
            "mcp__autonoe__count_lines",
            json!({"files": ["../SPEC.md"]}),
        )
        .fails_tool("mcp__autonoe__count_lines", json!({"file": "SPEC.md"}))
        .uses_tool("mcp__autonoe__create", plan)
        .ends()]);
    let runner = SessionRunner::builder(project.path())
        .agents(agents)
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new([(
            InstructionName::Initializer,
            "Turn SPEC.md into deliverables.",
        )]))
        .tool(
            LineCounter {
                project: project.path().to_owned(),
            }
            .into_tool(),
        )
        .observer(show)
        .pause_between_sessions(Duration::ZERO)
        .max_iterations(1)
        .build()?;
    let report = runner.run(&RunControl::new()).await;

    println!("\n{report}");
    Ok(())
}

fn show(event: &RunEvent<'_>) {
    match &event.kind {
        RunEventKind::Agent {
            stream: StreamEvent::ToolInvocation { name, input, .. },
        } => {
            println!("{name} {input}");
        }
        RunEventKind::ToolProgress { title, .. } => println!("  {title} ..."),
        RunEventKind::Agent {
            stream: StreamEvent::ToolResponse { output, status, .. },
        } => {
            println!("  {status:?}: {output}");
        }
        _ => {}
    }
}
