//! Processes that a program leaves behind.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::claude::PATIENCE;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A variable of the environment that a program and all that it starts have.
#[derive(Clone, Debug)]
pub(crate) struct Marker(String);

impl Marker {
    pub(crate) const NAME: &str = "AUTONOE_TEST_MARKER";

    pub(crate) fn new() -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("model-server-{}-{count}", std::process::id()))
    }

    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// Waits until no process has the marker, or fails the test.
    pub(crate) async fn assert_gone(&self) {
        let started = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "left behind: {left:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the ids of the processes with the marker.
    fn processes(&self) -> Vec<String> {
        let wanted = format!("{}={}\0", Self::NAME, self.0);
        let all = fs::read_dir("/proc").expect("there is a /proc").flatten();
        all.filter(|process| {
            // A process that has just ended, or is another user's, cannot be read.
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            let mut parts = environment.windows(wanted.len());
            parts.any(|part| part == wanted.as_bytes())
        })
        .map(|process| process.file_name().to_string_lossy().into_owned())
        .collect()
    }
}
