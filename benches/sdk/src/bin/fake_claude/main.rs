//! Stand-in for Claude Code that answers as fast as it can, for `cargo xtask bench sdk`.
//!
//! On a prompt it runs four phases: messages, sequential hook requests, concurrent hook requests,
//! and tool calls. It times the requests itself and writes the measurements to the file that the
//! [plan](plan::Plan) names. All clients receive the same bytes.
//!
//! A wrong answer of a client ends the program, so that no measurement is written.

mod figures;
mod handshake;
mod lines;
mod phases;
mod pipes;
mod plan;

use std::io;

use crate::handshake::Host;
use crate::pipes::Pipes;
use crate::plan::Plan;

fn main() -> io::Result<()> {
    let mut pipes = Pipes::new();
    if handshake::is_version_request() {
        return pipes.send(b"2.1.325 (Claude Code)\n");
    }
    let plan = Plan::from_environment()?;
    let mut host = Host::from_arguments();
    while let Some(line) = pipes.next()? {
        let line = serde_json::from_str(&line)?;
        match host.handle_line(&line) {
            handshake::Step::Answer(answer) => pipes.send(answer.as_bytes())?,
            handshake::Step::Work => {
                pipes.send(host.init().as_bytes())?;
                phases::play(&mut pipes, &plan, host.hook()?)?;
            }
            handshake::Step::Nothing => {}
            handshake::Step::End(answer) => return pipes.send(answer.as_bytes()),
        }
    }
    Ok(())
}
