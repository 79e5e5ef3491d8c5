//! Instructions loaded from files, with built-in texts as a fallback.
//!
//! Run it with `cargo run --example custom_instructions`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::{FixedInstructions, InstructionError, InstructionSource};
use autonoe_core::{RunControl, SessionRunner, async_trait};
use autonoe_scripted::{ScriptedBackend, SessionScript};

/// Reads the text of an instruction from a directory, or from another source if there is no file.
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
    let agents = Arc::new(ScriptedBackend::new([SessionScript::new("plans").ends()]));
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(agents.clone())
        .repository(MemoryRepository::new())
        .instructions(texts)
        .max_iterations(1)
        .build()?;
    runner.run(&RunControl::new()).await;

    println!("The agent received: {}", agents.received()[0].prompt);
    Ok(())
}
