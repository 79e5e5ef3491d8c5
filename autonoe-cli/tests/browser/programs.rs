//! Programs of the browser tests: Chromium and the Playwright MCP server.

use std::path::{Path, PathBuf};

/// Returns Debian's Chromium. Panics if it is not installed.
pub(crate) fn chromium() -> &'static str {
    const PROGRAM: &str = "/usr/bin/chromium";
    assert!(
        Path::new(PROGRAM).is_file(),
        "{PROGRAM} is missing: run `cargo xtask clis` as root, or install Debian's package chromium"
    );
    PROGRAM
}

/// Returns the script of the pinned server. Panics if it is not installed.
pub(crate) fn playwright() -> PathBuf {
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
