//! Executes every command of the tutorial about the first run in order, with the real Claude Code
//! and a scripted model.

mod console;
mod reader;
mod world;

use console::Console;
use world::World;

const TUTORIAL: &str = include_str!("../../../docs/tutorials/first-run.md");

#[test]
fn every_command_of_the_first_run_does_what_the_tutorial_says() {
    let world = World::new();
    let mut shell = reader::Shell::start(&world);

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
