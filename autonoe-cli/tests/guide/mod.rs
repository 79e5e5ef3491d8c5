//! The guide of the first day, executed: every command in it, in its order, with the real Claude
//! Code and a scripted model.

mod console;
mod reader;
mod world;

use console::Console;
use world::World;

const GUIDE: &str = include_str!("../../../docs/guides/first-day.md");

#[test]
fn every_command_of_the_first_day_does_what_the_guide_says() {
    let world = World::new();
    let mut shell = reader::Shell::start(&world);

    for console in Console::all(GUIDE) {
        for command in &console.commands {
            let (code, output) = shell.execute(&command.text);

            assert_eq!(code, console.exit, "{}\n{output}", command.text);
            if let Some(missing) = command.missing_in(&output) {
                panic!("{}: no line {missing:?} in\n{output}", command.text);
            }
        }
    }
}
