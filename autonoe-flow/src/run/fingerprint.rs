//! What tells versions of a definition apart.

use sha2::{Digest, Sha256};

use crate::load::FlowDefinition;

/// Returns a hash of what decides how a flow goes on: `agent.json` and the steps.
///
/// Prompts are left out. They are read anew for each step, and a flow that broke
/// off because of one may go on once it is mended.
pub(super) fn fingerprint(definition: &FlowDefinition) -> Result<String, serde_json::Error> {
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
