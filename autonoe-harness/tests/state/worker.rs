//! Fixture: workers in processes of their own, which report acknowledged writes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The environment variables that turn this test program into a worker.
const FILE: &str = "AUTONOE_TEST_STATE_FILE";
const NAME: &str = "AUTONOE_TEST_STATE_WORKER";

/// Returns the file and the name, in a worker process.
pub(crate) fn worker_config() -> Option<(PathBuf, String)> {
    let (file, name) = (std::env::var_os(FILE)?, std::env::var(NAME).ok()?);
    Some((file.into(), name))
}

pub(crate) fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    // The parent may be gone; then nothing reads the output.
    let _ = writeln!(out, "worker: {line}").and_then(|()| out.flush());
}

/// A worker, and its output so far.
pub(crate) struct Worker {
    pub(crate) name: String,
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts a process that runs the test `test`, with a file and a name.
    pub(crate) fn start(test: &str, file: &Path, name: String) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args([test, "--exact", "--nocapture"])
            .env(FILE, file)
            .env(NAME, &name)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let sender = Arc::clone(&lines);
        let listener = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, report)) = line.split_once("worker: ") {
                    sender.lock().expect("not poisoned").push(report.to_owned());
                }
            }
        });
        Self {
            name,
            child,
            lines,
            listener: Some(listener),
        }
    }

    /// Returns the number of its output lines.
    pub(crate) fn reported(&self) -> usize {
        self.lines.lock().expect("not poisoned").len()
    }

    /// Kills it and returns its output.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("ours");
        self.end()
    }

    /// Waits for its end and returns its output.
    pub(crate) fn wait(mut self) -> Vec<String> {
        let started = Instant::now();
        while self.child.try_wait().expect("ours").is_none() {
            assert!(
                started.elapsed() < Duration::from_secs(120),
                "it does not end"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
        self.end()
    }

    fn end(&mut self) -> Vec<String> {
        self.child.wait().expect("ours");
        let listener = self.listener.take().expect("it ends once");
        listener.join().expect("it only listens");
        self.lines.lock().expect("not poisoned").clone()
    }
}

impl Drop for Worker {
    /// Leaves no process behind when the test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
