//! [`Log`]: the sessions of all hosts, for tests to count.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A session that started, or reached its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The host.
    pub host: String,
    /// The run.
    pub run: String,
    /// The number of the session.
    pub number: u32,
    /// The event.
    pub event: SessionEvent,
}

/// An event of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionEvent {
    /// It started.
    Started,
    /// It reached its end.
    Ended,
}

/// A file to which the agents of all hosts append lines.
#[derive(Clone, Debug)]
pub struct Log(PathBuf);

impl Log {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn add(&self, entry: &Entry) {
        let file = OpenOptions::new().append(true).create(true).open(&self.0);
        let line = serde_json::to_string(entry).expect("it is JSON");
        // Written at once, so that lines of different writers do not mix.
        let written = file
            .expect("a file")
            .write_all(format!("{line}\n").as_bytes());
        written.expect("writable");
    }

    /// Returns all entries, in order.
    pub fn entries(&self) -> Vec<Entry> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        // A kill may leave a partial line.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("lines of ours")
    }

    /// Returns the hosts on which a session of a run started, in order.
    pub fn started(&self, run: &str, number: u32) -> Vec<String> {
        self.hosts(run, number, SessionEvent::Started)
    }

    /// Returns the hosts on which a session of a run reached its end.
    pub fn ended(&self, run: &str, number: u32) -> Vec<String> {
        self.hosts(run, number, SessionEvent::Ended)
    }

    fn hosts(&self, run: &str, number: u32, event: SessionEvent) -> Vec<String> {
        let entries = self.entries().into_iter();
        let of_session = entries
            .filter(|entry| entry.run == run && entry.number == number && entry.event == event);
        of_session.map(|entry| entry.host).collect()
    }
}
