//! Executes every command of the tutorial about the first run in order, with the real Claude Code
//! and a scripted model.

mod console;
mod fixture;

use std::fs;
use std::process::Command;

use console::Console;
use fixture::Fixture;

const TUTORIAL: &str = include_str!("../../../docs/tutorials/first-run.md");

#[test]
fn tutorial_commands_work_as_documented() {
    let fixture = Fixture::new();
    let mut shell = Shell::start(&fixture);

    for console in Console::all(TUTORIAL) {
        for command in &console.commands {
            let (code, output) = shell.execute(&command.text);

            assert_eq!(code, console.exit, "{}\n{output}", command.text);
            if let Some(missing) = command.missing_in(&output) {
                panic!("{}: no line {missing:?} in\n{output}", command.text);
            }
        }
    }
}

/// A shell that keeps its working directory between commands.
struct Shell<'w> {
    fixture: &'w Fixture,
}

impl<'w> Shell<'w> {
    fn start(fixture: &'w Fixture) -> Self {
        fs::write(fixture.path("here"), fixture.start().display().to_string()).expect("writable");
        Self { fixture }
    }

    /// Executes a command, and returns its exit code and its output.
    fn execute(&mut self, command: &str) -> (i32, String) {
        let here = fs::read_to_string(self.fixture.path("here")).expect("readable");
        // One pipe for both streams, so that the output has the order of the screen.
        let script = format!("exec 2>&1\n{command}\ncode=$?\npwd > \"$HERE\"\nexit $code\n");
        let output = Command::new("bash")
            .args(["-c", &script])
            .current_dir(here.trim())
            .env_clear()
            .env("HERE", self.fixture.path("here"))
            .envs(self.fixture.environment())
            .output()
            .expect("it starts");
        let code = output.status.code().expect("it ends by itself");
        (code, String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
