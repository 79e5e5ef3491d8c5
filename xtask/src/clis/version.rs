//! Check that an installed CLI has the pinned version.

use std::path::Path;
use std::time::Duration;

use crate::deadline::{self, Ending};
use crate::failure::Failure;

use super::pins::Pin;

/// Time that a CLI has to print its version.
const LIMIT: Duration = Duration::from_secs(60);

/// Refuses a folder whose program does not tell the pinned version.
pub(super) fn check(pin: &Pin, folder: &Path) -> Result<(), Failure> {
    let program = pin.program(folder);
    // Asked for a script that is not there, an interpreter says so at length.
    if !program.is_file() {
        let program = program.display();
        return Err(Failure::new(format!(
            "{program} is missing; {pin} is pinned"
        )));
    }
    let nowhere = folder.join("no-settings");
    let mut command = pin.command(folder);
    // It finds no settings of the user, and leaves none.
    command.arg("--version").env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", &nowhere);
    command.env("CLAUDE_CONFIG_DIR", &nowhere);

    let ending = deadline::run(&mut command, "", LIMIT).map_err(|source| {
        let program = program.display();
        Failure::new(format!("cannot run {program}: {source}"))
    })?;

    let wrong = |problem: &str| {
        let program = program.display();
        Failure::new(format!("{program} --version {problem}; {pin} is pinned"))
    };
    match ending {
        Ending::Exited { status, stdout } if status.success() => {
            let printed = String::from_utf8_lossy(&stdout);
            if printed.trim() == pin.version_line() {
                Ok(())
            } else {
                Err(wrong(&format!("prints {:?}", printed.trim())))
            }
        }
        Ending::Exited { status, .. } => Err(wrong(&format!("ends with {status}"))),
        Ending::TimedOut | Ending::LeftOutputOpen => Err(wrong("does not finish")),
    }
}
