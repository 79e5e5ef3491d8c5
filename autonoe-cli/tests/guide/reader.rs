//! `Shell`, which executes the commands of a guide like its reader.

use std::fs;
use std::process::Command;

use crate::guide::world::World;

/// A shell that keeps its working directory between commands.
pub(crate) struct Shell<'w> {
    world: &'w World,
}

impl<'w> Shell<'w> {
    pub(crate) fn start(world: &'w World) -> Self {
        fs::write(world.path("here"), world.start().display().to_string()).expect("writable");
        Self { world }
    }

    /// Executes a command, and returns its exit code and its output.
    pub(crate) fn execute(&mut self, command: &str) -> (i32, String) {
        let here = fs::read_to_string(self.world.path("here")).expect("readable");
        // One pipe for both streams, so that the output has the order of the screen.
        let script = format!("exec 2>&1\n{command}\ncode=$?\npwd > \"$HERE\"\nexit $code\n");
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(here.trim())
            .env_clear()
            .env("HERE", self.world.path("here"))
            .envs(self.world.environment())
            .output()
            .expect("it starts");
        let code = output.status.code().expect("it ends by itself");
        (code, String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
