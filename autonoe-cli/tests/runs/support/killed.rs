//! A run that is killed in the middle.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::project::Project;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A run under way. It is killed when this is dropped.
pub(crate) struct UnderWay {
    child: Child,
}

impl UnderWay {
    /// Starts `command`, and returns when the journal of `project` has `text`.
    pub(crate) fn until_journal_has(command: Command, project: &Project, text: &str) -> Self {
        Self::until_file_has(command, &project.path(".autonoe/journal.jsonl"), text)
    }

    /// Starts `command`, and returns when the file has `text`.
    pub(crate) fn until_file_has(mut command: Command, file: &Path, text: &str) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut run = Self { child };
        let begun = Instant::now();
        while !std::fs::read_to_string(file).is_ok_and(|written| written.contains(text)) {
            assert!(begun.elapsed() < PATIENCE, "{file:?} has no {text}");
            let ended = run.child.try_wait().expect("ours");
            assert_eq!(ended, None, "it ended before {file:?} had {text}");
            std::thread::sleep(Duration::from_millis(10));
        }
        run
    }

    /// Returns its process ID.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, with no chance to say anything.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }

    /// Asks it to stop.
    pub(crate) fn interrupt(&self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it is ours");
    }

    /// Waits for its end, and returns its exit code and what it wrote.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        use std::io::Read;

        let mut written = String::new();
        for output in [
            self.child
                .stdout
                .take()
                .map(|it| Box::new(it) as Box<dyn Read>),
            self.child
                .stderr
                .take()
                .map(|it| Box::new(it) as Box<dyn Read>),
        ] {
            let mut output = output.expect("it is a pipe");
            output.read_to_string(&mut written).expect("text");
        }
        let status = self.child.wait().expect("it is ours");
        (status.code(), written)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
