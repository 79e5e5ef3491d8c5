//! Executes every command of the tutorial about the first run in order, with the real Claude Code
//! and a scripted model.

mod console;
mod reader;
mod world;

use console::Console;
use world::World;

const TUTORIAL: &str = include_str!("../../../docs/tutorials/first-run.md");

#[test]
fn tutorial_commands_work_as_documented() {
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
