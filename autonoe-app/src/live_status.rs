//! [`LiveStatus`]: the current activity of a run, for views in other processes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use autonoe_core::event::WaitReason;
use autonoe_core::project::{read_text_file, write_new_file};
use autonoe_core::{Project, RunEvent, RunEventKind, RunObserver, StreamEvent};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::text::Activity;

/// Minimum time between two writes.
const WRITE_INTERVAL: Duration = Duration::from_millis(250);

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Maximum length of a text, in characters.
const MAX_CHARS: usize = 600;

/// The current activity of a run.
///
/// The process of the run writes it to `.autonoe/live.json`, because the journal has only results.
/// It describes the run only while the process `pid` holds the lock of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LiveStatus {
    pub pid: u32,
    pub session: Option<u32>,
    pub instruction: Option<String>,
    pub model: Option<String>,
    /// The activity of the agent, in a few words.
    pub activity: Option<String>,
    /// The target of the agent's last tool call.
    pub target: Option<String>,
    /// The end of the agent's current text.
    pub text: String,
    pub is_paused: bool,
    pub wait: Option<LiveWait>,
}

/// A wait of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveWait {
    pub reason: WaitReason,
    pub until: Timestamp,
}

impl LiveStatus {
    /// Reads the status of the run of `project`, if its process `pid` has written one.
    pub fn read(project: &Project, pid: u32) -> Option<Self> {
        let text = read_text_file(&project.live_path(), MAX_BYTES).ok()??;
        let status: Self = serde_json::from_str(&text).ok()?;
        (status.pid == pid).then_some(status)
    }
}

/// Writes the [`LiveStatus`] of the run that it observes.
///
/// Observers must return quickly, so a thread writes the file. Dropping the writer deletes it.
pub struct LiveStatusWriter {
    shared: Arc<Shared>,
    thread: Option<thread::JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    status: LiveStatus,
    activity: Activity,
    is_changed: bool,
    is_over: bool,
}

impl LiveStatusWriter {
    /// Starts the writer for `project`. Nothing is written before the run starts.
    pub fn start(project: &Project) -> io::Result<Self> {
        let mut state = State::default();
        state.status.pid = std::process::id();
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let (thread_shared, path) = (shared.clone(), project.live_path());
        let thread = thread::Builder::new()
            .name("live-status".to_owned())
            .spawn(move || write_until_over(&thread_shared, &path))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }
}

impl Drop for LiveStatusWriter {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl RunObserver for LiveStatusWriter {
    fn on_event(&self, event: &RunEvent<'_>) {
        if self.shared.state().observe(&event.kind) {
            self.shared.changed.notify_all();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Updates the status, and returns whether it changed.
    fn observe(&mut self, kind: &RunEventKind<'_>) -> bool {
        let status = &mut self.status;
        self.activity.observe(kind);
        match kind {
            RunEventKind::RunStarted { .. } | RunEventKind::FlowStarted { .. } => {}
            RunEventKind::SessionStarted {
                number,
                instruction,
                model,
            } => {
                *status = LiveStatus {
                    pid: status.pid,
                    session: Some(*number),
                    instruction: Some(instruction.to_string()),
                    model: model.map(str::to_owned),
                    ..LiveStatus::default()
                };
            }
            RunEventKind::Agent { stream } => {
                status.activity = self.activity.text();
                match stream {
                    StreamEvent::Text { text, .. } => {
                        status.text.push_str(text);
                        keep_end(&mut status.text);
                    }
                    StreamEvent::ToolInvocation { .. } => {
                        status.text.clear();
                        status.target = None;
                    }
                    _ => {}
                }
            }
            RunEventKind::ToolDecided { call, .. } => {
                status.target = call.kind.target().map(|target| {
                    let short: String = target.chars().take(MAX_CHARS).collect();
                    short
                });
            }
            RunEventKind::SessionEnded { .. } => {
                *status = LiveStatus {
                    pid: status.pid,
                    ..LiveStatus::default()
                };
            }
            RunEventKind::WaitStarted { reason, until } => {
                status.wait = Some(LiveWait {
                    reason: *reason,
                    until: *until,
                });
            }
            RunEventKind::WaitEnded { .. } => status.wait = None,
            RunEventKind::Paused => status.is_paused = true,
            RunEventKind::Resumed => status.is_paused = false,
            _ => return false,
        }
        self.is_changed = true;
        true
    }
}

/// Removes the start of a text that has become too long.
fn keep_end(text: &mut String) {
    if text.len() > 2 * MAX_CHARS * 4
        && let Some((start, _)) = text.char_indices().rev().nth(MAX_CHARS - 1)
    {
        text.drain(..start);
    }
}

/// Writes the status after each change, until the writer is dropped.
fn write_until_over(shared: &Shared, path: &Path) {
    let mut has_written = false;
    loop {
        let mut state = shared.state();
        while !state.is_changed && !state.is_over {
            state = shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_over {
            break;
        }
        state.is_changed = false;
        let status = state.status.clone();
        drop(state);
        match write(path, &status) {
            Ok(()) => has_written = true,
            Err(error) => tracing::debug!(%error, "the live status of the run cannot be written"),
        }
        let state = shared.state();
        let pause = shared
            .changed
            .wait_timeout_while(state, WRITE_INTERVAL, |state| !state.is_over);
        drop(pause);
    }
    if has_written {
        let _ = fs::remove_file(path);
    }
}

/// Replaces the file. A power cut may lose it, because it is worth nothing without its process.
fn write(path: &Path, status: &LiveStatus) -> io::Result<()> {
    let written: PathBuf = path.with_extension("json.tmp");
    match fs::remove_file(&written) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_new_file(&written, &serde_json::to_vec(status)?)?;
    fs::rename(&written, path)
}

#[cfg(test)]
mod tests {
    use autonoe_core::event::Events;
    use autonoe_core::time::{SeededIds, SystemClock};

    use super::*;

    #[test]
    fn the_file_follows_the_run_and_is_removed_with_the_writer() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join(".autonoe")).expect("writable");
        let project = Project::find(dir.path(), None).expect("a project");
        let writer = Arc::new(LiveStatusWriter::start(&project).expect("a thread"));
        let events = Events::new(vec![writer.clone()], SystemClock, SeededIds::new(1));
        let own = std::process::id();

        events.emit(RunEventKind::Paused);
        let mut read = None;
        while read.is_none() {
            thread::yield_now();
            read = LiveStatus::read(&project, own);
        }

        assert!(read.expect("it is written").is_paused);
        assert_eq!(LiveStatus::read(&project, own + 1), None);
        drop((writer, events));
        assert!(!project.live_path().exists());
    }

    #[test]
    fn a_long_text_is_truncated_to_its_end() {
        let mut state = State::default();
        for _ in 0..4000 {
            let stream = StreamEvent::text("über ");
            state.observe(&RunEventKind::Agent { stream: &stream });
        }

        assert!(state.status.text.ends_with("über "));
        assert!(state.status.text.len() <= 2 * MAX_CHARS * 4);
    }
}
