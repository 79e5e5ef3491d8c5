//! Paths of the pinned programs.

use std::path::{Path, PathBuf};

use autonoe_process::find_program;

/// Returns the Claude Code of this version. Panics if it is not installed.
pub(crate) fn claude(version: &str) -> PathBuf {
    installed(&format!("claude-code-{version}/claude"))
}

/// Returns Codex. Panics if it is not installed.
pub(crate) fn codex() -> PathBuf {
    let system = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    installed(&format!("codex-0.166.0/vendor/{system}/bin/codex"))
}

/// Returns the script of Gemini CLI. Panics if it is not installed.
pub(crate) fn gemini() -> PathBuf {
    installed("gemini-cli-0.61.0/bundle/gemini.js")
}

/// Returns Node.js. Panics if it is not installed.
pub(crate) fn node() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_program("node", &path).expect("Node.js is installed")
}

fn installed(name: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let clis = workspace.expect("it is a member").join("target/clis");
    let program = clis.join(name);
    program.canonicalize().unwrap_or_else(|_| {
        let program = program.display();
        panic!("{program} is missing: run `cargo xtask clis` to install it")
    })
}
