//! Instructions from files, with built-in texts for those that have none.
//!
//! Run it with `cargo run --example custom_instructions`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::{
    FixedInstructions, InstructionError, InstructionName, InstructionSource, MemoryRepository,
    RunControl, SessionRunner, async_trait,
};
use autonoe_scripted::{ScriptedAgents, SessionScript};

/// Reads the text of an instruction from a directory, or else from another source.
struct Directory<S> {
    path: PathBuf,
    fallback: S,
}

#[async_trait]
impl<S: InstructionSource> InstructionSource for Directory<S> {
    async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError> {
        // A custom name must not lead out of the directory.
        if name.as_str().contains(['/', '\\', '.']) {
            return Err(InstructionError::new(
                name.clone(),
                "it cannot be a file name",
            ));
        }
        match fs::read_to_string(self.path.join(format!("{name}.md"))) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == ErrorKind::NotFound => self.fallback.resolve(name).await,
            // Falling back would hide that the text exists.
            Err(error) => Err(InstructionError::new(name.clone(), error.to_string())),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let prompts = tempfile::tempdir()?;
    fs::write(
        prompts.path().join("initializer.md"),
        "Plan in small steps.",
    )?;
    let texts = Directory {
        path: prompts.path().to_owned(),
        fallback: FixedInstructions::new([(InstructionName::Initializer, "Plan.")]),
    };
    let agents = Arc::new(ScriptedAgents::new([SessionScript::new("plans").ends()]));
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(agents.clone())
        .repository(MemoryRepository::new())
        .instructions(texts)
        .max_iterations(1)
        .build()?;
    runner.run(&RunControl::new()).await;

    println!("The agent was told: {}", agents.received()[0].prompt);
    Ok(())
}
