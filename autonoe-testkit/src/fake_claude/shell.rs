//! Commands that tools run.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};

use super::inlet::Event;

/// A command that is over.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) call: String,
    pub(super) succeeded: bool,
    /// What the agent is given.
    pub(super) output: String,
}

/// A command that runs, in a group of its own.
#[derive(Debug)]
pub(super) struct Running(Option<Pid>);

impl Running {
    /// Starts `command`. Its end comes into `queue`, with the id of the call.
    pub(super) fn start(
        command: &str,
        directory: &Path,
        call: &str,
        queue: Sender<Event>,
    ) -> io::Result<Self> {
        let child = Command::new("bash")
            .args(["-c", command])
            .current_dir(directory)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let call = call.to_owned();
        thread::spawn(move || {
            let ran = match child.wait_with_output() {
                Ok(output) => Ran {
                    call,
                    succeeded: output.status.success(),
                    output: told(&output),
                },
                Err(error) => Ran {
                    call,
                    succeeded: false,
                    output: error.to_string(),
                },
            };
            let _ = queue.send(Event::Ran(ran));
        });
        Ok(Self(group))
    }

    /// Kills it, and what it started in its group.
    pub(super) fn kill(&self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Says what came of a command as the real program does: first the code, if it failed.
fn told(output: &std::process::Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    let mut parts = Vec::new();
    if !output.status.success() {
        parts.push(match output.status.code() {
            Some(code) => format!("Exit code {code}"),
            None => "Exit code 137".to_owned(),
        });
    }
    parts.extend([text(&output.stdout), text(&output.stderr)]);
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}
