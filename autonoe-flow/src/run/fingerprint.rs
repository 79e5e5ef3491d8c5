//! What tells versions of a definition apart.

use sha2::{Digest, Sha256};

use crate::load::FlowDefinition;

/// Returns a hash of what decides how a flow goes on: `agent.json` and the steps.
///
/// Prompts are left out. They are read anew for each step, and a flow that broke
/// off because of one may go on once it is mended.
///
/// ```
/// use autonoe_flow::{FlowAgent, FlowDefinition, StepsRegistry, fingerprint};
/// use serde_json::{from_value, json};
///
/// let definition = |version: &str| -> Result<FlowDefinition, serde_json::Error> {
///     let behavior = json!({"completionType": "stepMachine"});
///     let agent = json!({"version": version, "name": "hello", "behavior": behavior});
///     let steps = json!({"greet": {"prompt": "greet.md", "transition": {"next": "end"}}});
///     let registry = json!({"entryStep": "greet", "steps": steps});
///     Ok(FlowDefinition::new(from_value::<FlowAgent>(agent)?, from_value::<StepsRegistry>(registry)?))
/// };
///
/// assert_ne!(fingerprint(&definition("1")?)?, fingerprint(&definition("2")?)?);
/// assert_eq!(fingerprint(&definition("1")?)?, fingerprint(&definition("1")?)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// The definition cannot be written as JSON.
pub fn fingerprint(definition: &FlowDefinition) -> Result<String, serde_json::Error> {
    let mut hash = Sha256::new();
    for part in [
        serde_json::to_vec(definition.agent())?,
        serde_json::to_vec(definition.registry())?,
    ] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let bytes = hash.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
