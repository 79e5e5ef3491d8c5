//! What agents have done, on whichever host, for tests to count.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A session that began, or that came to where it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Where.
    pub host: String,
    /// The run.
    pub run: String,
    /// The number of the session.
    pub number: u32,
    /// What it did.
    pub what: What,
}

/// What a session did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// It began.
    Began,
    /// It came to where it ends.
    Ended,
}

/// A file to which the agents of all hosts add lines.
#[derive(Clone, Debug)]
pub struct Log(PathBuf);

impl Log {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn add(&self, entry: &Entry) {
        let file = OpenOptions::new().append(true).create(true).open(&self.0);
        let line = serde_json::to_string(entry).expect("it is JSON");
        // In one piece, so that nobody writes into the lines of others.
        let written = file
            .expect("a file")
            .write_all(format!("{line}\n").as_bytes());
        written.expect("writable");
    }

    /// Returns all entries, in order.
    pub fn entries(&self) -> Vec<Entry> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        // A kill may leave a part of a line.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().expect("lines of ours")
    }

    /// Returns on which hosts a session of a run began, in order.
    pub fn began(&self, run: &str, number: u32) -> Vec<String> {
        self.hosts(run, number, What::Began)
    }

    /// Returns on which hosts a session of a run came to where it ends.
    pub fn ended(&self, run: &str, number: u32) -> Vec<String> {
        self.hosts(run, number, What::Ended)
    }

    fn hosts(&self, run: &str, number: u32, what: What) -> Vec<String> {
        let entries = self.entries().into_iter();
        let of_session = entries
            .filter(|entry| entry.run == run && entry.number == number && entry.what == what);
        of_session.map(|entry| entry.host).collect()
    }
}
