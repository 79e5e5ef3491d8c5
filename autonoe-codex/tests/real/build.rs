//! The pinned build of Codex.

use std::path::{Path, PathBuf};

/// Returns the program, or fails the test if it is not installed.
pub(crate) fn program() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let folder = workspace
        .expect("it is a member")
        .join("target/clis/codex-0.166.0/vendor");
    let system = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let program = folder.join(system).join("bin/codex");
    assert!(
        program.is_file(),
        "{} is missing: run `cargo xtask clis` to install it",
        program.display()
    );
    program.canonicalize().expect("it is there")
}
