//! A browser for the server.

use std::path::Path;

/// Returns Debian's Chromium, or fails the test if it is not installed.
pub(crate) fn program() -> &'static str {
    const PROGRAM: &str = "/usr/bin/chromium";
    assert!(
        Path::new(PROGRAM).is_file(),
        "{PROGRAM} is missing: run `cargo xtask clis` as root, or install Debian's package chromium"
    );
    PROGRAM
}
