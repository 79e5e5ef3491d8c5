//! Where the definition of a flow may stand that is run.

use std::path::Path;

use autonoe_core::Project;
use autonoe_flow::FlowDefinition;

use crate::error::CliError;

/// Refuses a flow whose files agents and checks could change while they are bound by them: all of
/// the project is theirs to write, but for `.autonoe`.
pub(super) fn out_of_reach(definition: &FlowDefinition, project: &Project) -> Result<(), CliError> {
    let Some(folder) = definition.folder() else {
        return Ok(());
    };
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, root) = (whole(folder), whole(project.root()));
    // A folder around the project may have its prompts inside.
    let is_in_reach = folder.starts_with(&root) || root.starts_with(&folder);
    if !is_in_reach || folder.starts_with(whole(&project.state_dir())) {
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
