//! Path of the Chromium that the browser server uses.

use std::path::Path;

/// Returns Debian's Chromium. Panics if it is not installed.
pub(crate) fn program() -> &'static str {
    const PROGRAM: &str = "/usr/bin/chromium";
    assert!(
        Path::new(PROGRAM).is_file(),
        "{PROGRAM} is missing: run `cargo xtask clis` as root, or install Debian's package chromium"
    );
    PROGRAM
}
