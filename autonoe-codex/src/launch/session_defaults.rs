//! What a session gets that says nothing about it.

use autonoe_core::SessionSpec;

use super::CodexOptions;

/// Returns `spec` with what `options` say filled in; what a session says for itself wins.
pub(crate) fn completed(options: &CodexOptions, mut spec: SessionSpec) -> SessionSpec {
    spec.model = spec.model.or_else(|| options.model.clone());
    for (name, server) in &options.mcp_servers {
        let servers = &mut spec.mcp_servers;
        servers
            .entry(name.clone())
            .or_insert_with(|| server.clone());
    }
    spec
}
