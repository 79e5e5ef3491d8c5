//! Where the program finds itself.

use std::path::PathBuf;
use std::sync::mpsc;

/// Where the program finds itself: all that is not in its script.
#[derive(Debug)]
#[non_exhaustive]
pub struct Surroundings {
    /// Its arguments, without its name.
    pub args: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Whether it says when it works and when it is idle
    /// (`CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS`).
    pub tells_states: bool,
    /// Where it writes down the talk, in the form of recorded conversations.
    pub log: Option<PathBuf>,
    /// The signals that it gets.
    pub signals: Option<mpsc::Receiver<Signal>>,
}

/// A signal that the program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// `SIGINT`: it ends in order.
    Interrupt,
    /// `SIGTERM`: it ends at once.
    Terminate,
    /// `SIGHUP`: it ends at once.
    Hangup,
}

impl Surroundings {
    /// Makes surroundings with these arguments, in this directory, without signals.
    pub fn new(args: impl IntoIterator<Item = String>, directory: impl Into<PathBuf>) -> Self {
        Self {
            args: args.into_iter().collect(),
            directory: directory.into(),
            tells_states: false,
            log: None,
            signals: None,
        }
    }
}
