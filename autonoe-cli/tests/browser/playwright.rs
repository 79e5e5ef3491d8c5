//! Path of the real Playwright MCP server.

use std::path::{Path, PathBuf};

/// Returns the script of the pinned server. Panics if it is not installed.
pub(crate) fn script() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let clis = workspace.expect("it is a member").join("target/clis");
    let script = clis.join("playwright-mcp-0.0.83/node_modules/@playwright/mcp/cli.js");
    assert!(
        script.is_file(),
        "{} is missing: run `cargo xtask clis` to install it",
        script.display()
    );
    script
}
