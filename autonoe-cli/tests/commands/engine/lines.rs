//! The lines of a program while it runs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Far longer than anything takes here.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

/// The lines of a program as they come. It is killed at the latest with this.
pub(crate) struct Lines {
    child: Child,
    come: Receiver<String>,
    told: String,
}

impl Lines {
    /// Reads what a program writes to whichever of its outputs is a pipe.
    pub(crate) fn of(mut child: Child) -> Self {
        let stdout = child
            .stdout
            .take()
            .map(|it| Box::new(it) as Box<dyn Read + Send>);
        let stderr = child
            .stderr
            .take()
            .map(|it| Box::new(it) as Box<dyn Read + Send>);
        let output = stdout.or(stderr).expect("a pipe");
        let (tell, come) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // Nobody may listen any more.
                let _ = tell.send(line);
            }
        });
        let told = String::new();
        Self { child, come, told }
    }

    /// Waits for a line that contains something.
    pub(crate) fn until(&mut self, what: &str) {
        while let Ok(line) = self.come.recv_timeout(DEADLINE) {
            self.told.push_str(&line);
            self.told.push('\n');
            if line.contains(what) {
                return;
            }
        }
        panic!("waited in vain for {what:?}: {}", self.told);
    }

    /// Waits for the end, and returns the exit code and all that was told.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + DEADLINE;
        while self.child.try_wait().expect("ours").is_none() {
            assert!(Instant::now() < deadline, "it does not end: {}", self.told);
            thread::sleep(Duration::from_millis(5));
        }
        while let Ok(line) = self.come.recv_timeout(DEADLINE) {
            self.told.push_str(&line);
            self.told.push('\n');
        }
        let code = self.child.wait().expect("ours").code();
        (code, std::mem::take(&mut self.told))
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status();
        assert!(sent.expect("kill").success());
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
