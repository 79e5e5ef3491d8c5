//! The sandbox of Claude Code.

use std::process::{Command, Stdio};

use autonoe_core::{Sandbox, SandboxSwitch};

use super::finding::Finding;
use super::programs::find;
use crate::surroundings::Surroundings;

const NAME: &str = "sandbox";

/// Looks whether agents can be kept in a sandbox.
pub(super) fn finding(switch: SandboxSwitch, surroundings: &Surroundings) -> Finding {
    if switch.sandbox() == Sandbox::Off {
        return switched_off();
    }
    if cfg!(target_os = "macos") {
        return Finding::good(NAME, "macOS brings what it needs");
    }
    let missing: Vec<_> = ["bwrap", "socat"]
        .into_iter()
        .filter(|program| find(program, surroundings).is_none())
        .collect();
    if !missing.is_empty() {
        return Finding::problem(
            NAME,
            format!("{} missing on PATH", missing.join(" and ")),
            "install them (apt install bubblewrap socat), or use --no-sandbox in a container",
        );
    }
    match try_it(surroundings) {
        Ok(()) => Finding::good(NAME, "bwrap and socat are there, and bwrap works"),
        Err(why) => Finding::problem(
            NAME,
            format!("bwrap cannot make a sandbox here: {why}"),
            "let users make namespaces (kernel.unprivileged_userns_clone, AppArmor), \
             or use --no-sandbox in a container",
        ),
    }
}

/// Tells of a sandbox that a person has switched off.
pub(super) fn switched_off() -> Finding {
    let remedy = "only do this where the whole machine is a sandbox, such as a container";
    Finding::warning(NAME, "it is switched off", remedy)
}

/// Tells of a wish in the environment that was not understood.
pub(super) fn misread(found: String) -> Finding {
    Finding::explained_warning(NAME, found)
}

/// Runs `true` in a sandbox: many machines have the program and forbid what it does.
fn try_it(surroundings: &Surroundings) -> Result<(), String> {
    let program = find("bwrap", surroundings).ok_or("it is gone")?;
    let done = Command::new(program)
        .args(["--ro-bind", "/", "/", "--unshare-net", "--unshare-pid"])
        .args(["--proc", "/proc", "--", "true"])
        .env_clear()
        .envs(&surroundings.environment)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
    }
}
