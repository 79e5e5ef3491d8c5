//! What a session gets that says nothing about it.

use autonoe_core::SessionSpec;

use super::CodexOptions;

/// Returns `spec` with what `options` say filled in; what a session says for itself wins.
pub(crate) fn completed(options: &CodexOptions, mut spec: SessionSpec) -> SessionSpec {
    spec.model = spec.model.or_else(|| options.model.clone());
    for (name, server) in &options.mcp_servers {
        if !spec.mcp_servers.contains_key(name) {
            spec.mcp_servers.insert(name.clone(), server.clone());
            // The run may have left out an optional server of this name.
            spec.optional_servers.remove(name);
        }
    }
    spec
}
