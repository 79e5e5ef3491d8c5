//! Rejects flows whose definition their own agents could change.

use std::path::Path;

use autonoe_core::Project;
use autonoe_flow::FlowDefinition;

use crate::error::CliError;

/// Returns an error if agents and checks could change the definition of the flow that governs them.
/// They can write everywhere in the project except `.autonoe`.
pub(super) fn check_location(
    definition: &FlowDefinition,
    project: &Project,
) -> Result<(), CliError> {
    let Some(folder) = definition.folder() else {
        return Ok(());
    };
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, root) = (canonical(folder), canonical(project.root()));
    // A folder around the project may have its prompts inside the project.
    let is_in_reach = folder.starts_with(&root) || root.starts_with(&folder);
    if !is_in_reach || folder.starts_with(canonical(&project.state_dir())) {
        return Ok(());
    }
    let name = &definition.agent().name;
    let message = format!(
        "the flow {name} cannot be run from {}: its own agents could change it there",
        folder.display()
    );
    Err(CliError::failure(message).with_hint(format!(
        "move the folder to .autonoe/flows/{name}, which agents cannot write to, or out of the project"
    )))
}
