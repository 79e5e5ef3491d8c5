//! A program that plays Claude Code as fast as it can, for `cargo xtask bench sdk`.
//!
//! On a prompt it goes through four phases: messages, hook questions one at a time, hook
//! questions several at a time, calls of a tool. It times the questions itself and writes the
//! figures to the file that the [plan](plan::Plan) names. All clients see the same bytes.
//!
//! An answer that is not the one that a client owes ends it: then there is no figure.

mod figures;
mod greeting;
mod phases;
mod pipes;
mod plan;
mod said;

use std::io;

use crate::greeting::Host;
use crate::pipes::Pipes;
use crate::plan::Plan;

fn main() -> io::Result<()> {
    let mut pipes = Pipes::new();
    if greeting::is_asked_for_version() {
        return pipes.send(b"2.1.325 (Claude Code)\n");
    }
    let plan = Plan::from_environment()?;
    let mut host = Host::from_arguments();
    while let Some(line) = pipes.next()? {
        let line = serde_json::from_str(&line)?;
        match host.greet(&line) {
            greeting::Step::Answer(answer) => pipes.send(answer.as_bytes())?,
            greeting::Step::Work => {
                pipes.send(host.init().as_bytes())?;
                phases::play(&mut pipes, &plan, host.hook()?)?;
            }
            greeting::Step::Nothing => {}
            greeting::Step::End(answer) => return pipes.send(answer.as_bytes()),
        }
    }
    Ok(())
}
