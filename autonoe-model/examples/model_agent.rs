//! Agent that needs only a model: no program of a vendor, a custom tool, and an observer that
//! prints the model's requests, answers and usage.
//!
//! The model is scripted, so this runs offline. Run it with `cargo run -p autonoe-model --example model_agent`.
//! The sandbox needs `bwrap`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::event::InstructionName;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::spec::{BackendSpec, SpecContext};
use autonoe_core::tool::{ToolDescription, ToolErrorCode};
use autonoe_core::{
    RunControl, RunEvent, RunEventKind, SessionRunner, StreamEvent, ToolContext, ToolError,
    ToolOutput, TypedTool,
};
use autonoe_model as _;
use autonoe_testkit::TempProject;
use autonoe_testkit::model_server::Turn;
use autonoe_testkit::model_server::openai::OpenAiServer;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Input of the tool; the model sees these comments as its schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Term {
    /// The English word.
    word: String,
}

/// Knows the preferred terms of the house.
struct Glossary;

#[async_trait]
impl TypedTool for Glossary {
    type Input = Term;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("glossary", "Says what we call something.").read_only()
    }

    async fn run(&self, input: Term, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        match input.word.as_str() {
            "hello" => Ok(ToolOutput::new("Moin")),
            word => {
                let message = format!("{word:?} is not in the glossary");
                Err(ToolError::new(ToolErrorCode::NOT_FOUND, message))
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let project = TempProject::new().spec("# A greeting\n\nhello.txt says hello.\n");
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "A greeting", "acceptanceCriteria": ["it is there"]},
    ]});
    let file = project.path().join("hello.txt");
    // Takes the place of Ollama, vLLM, OpenRouter and other OpenAI-compatible services.
    let server = OpenAiServer::start([
        Turn::tool("mcp__autonoe__create", plan),
        Turn::text("It is planned."),
        Turn::tool("mcp__autonoe__glossary", json!({"word": "hello"})),
        Turn::tool("Write", json!({"file_path": file, "content": "Moin!\n"})),
        Turn::tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        ),
        Turn::text("It is done."),
    ]);

    // As in a configuration file. The key is read from the location that it names.
    let backend: Box<dyn BackendSpec> = serde_json::from_value(json!({
        "type": "model",
        "name": "local",
        "provider": {
            "type": "openai-compatible",
            "baseUrl": server.api_url(),
            "key": {"env": "LOCAL_KEY"},
        },
        "model": "small",
        "prices": {"local/small": {"input": "0.10", "output": "0.40"}},
    }))?;
    let context = SpecContext::new(ProjectPaths::new(project.path())).with_environment([
        ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
        ("LOCAL_KEY".into(), "nobody checks it".into()),
    ]);
    let runner = SessionRunner::builder(project.path())
        .agents(backend.build(&context)?)
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new([
            (InstructionName::Initializer, "Plan what SPEC.md asks for."),
            (InstructionName::Coding, "Work on the next deliverable."),
        ]))
        .tool(Glossary.into_tool())
        .observer(show)
        .pause_between_sessions(Duration::ZERO)
        .build()?;

    let report = runner.run(&RunControl::new()).await;

    println!("\n{report}");
    assert_eq!(std::fs::read_to_string(file)?, "Moin!\n");
    server.verify();
    Ok(())
}

fn show(event: &RunEvent<'_>) {
    match &event.kind {
        RunEventKind::SessionStarted { instruction, .. } => println!("{instruction}:"),
        RunEventKind::ModelStarted { request } => {
            println!(
                "  {} is asked, with {} messages",
                request.model,
                request.messages.count()
            );
        }
        RunEventKind::ModelEnded { answer } => {
            let cost = answer.cost.map(|cost| cost.to_string());
            let tokens = answer.tokens.prompt() + answer.tokens.completion();
            println!(
                "  it used {tokens} tokens, {}",
                cost.as_deref().unwrap_or("at an unknown price")
            );
        }
        RunEventKind::Agent {
            stream: StreamEvent::ToolInvocation { name, input, .. },
        } => println!("  -> {name} {input}"),
        RunEventKind::Agent {
            stream: StreamEvent::ToolResponse { output, status, .. },
        } => println!("  <- {status:?}: {output}"),
        _ => {}
    }
}
