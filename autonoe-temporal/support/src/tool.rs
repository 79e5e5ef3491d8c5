//! [`Build`]: a tool that runs a program.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDefinition, ToolErrorCode};
use autonoe_core::{Project, Tool, ToolContext, ToolError, ToolOutput};
use autonoe_process::ProcessRunner;
use serde_json::{Value, json};

/// The program. It starts another one in a session of its own, writes both process IDs and does not
/// end.
const PROGRAM: &str = r#"
    trap "" INT TERM HUP
    setsid sh -c 'trap "" HUP INT TERM; exec sleep 600' &
    echo "$$ $!" >building.new
    mv building.new building
    while :; do sleep 0.05; done
"#;

/// The file with the process IDs.
pub const BUILDING: &str = "building";

/// A build that never finishes.
pub(crate) struct Build {
    folder: PathBuf,
    definition: ToolDefinition,
}

impl Build {
    pub(crate) fn new(project: &Project) -> Self {
        Self {
            folder: project.root().to_owned(),
            definition: ToolDefinition::new("build", "Builds.", json!({"type": "object"})),
        }
    }
}

#[async_trait]
impl Tool for Build {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, _: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let commands = ProcessRunner::unconfined(&self.folder).env("PATH", "/usr/bin:/bin");
        let command = ["bash", "-c", PROGRAM].map(str::to_owned);
        let ended = commands.run(&command, Duration::from_secs(600)).await;
        let reason = format!("it does not end by itself: {ended:?}");
        Err(ToolError::new(ToolErrorCode::IO_ERROR, reason))
    }
}
