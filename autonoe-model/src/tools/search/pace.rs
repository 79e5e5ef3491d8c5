//! When a search has taken long enough.

use std::io::{self, Read};
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::tools::ToolLimits;

/// How far a search may go, and how far it has gone.
#[derive(Debug)]
pub(in crate::tools) struct Pace {
    stop: CancellationToken,
    until: Option<Instant>,
    most: usize,
    seen: usize,
    broke_off: Option<String>,
}

impl Pace {
    pub(in crate::tools) fn new(limits: &ToolLimits, stop: &CancellationToken) -> Self {
        Self {
            stop: stop.clone(),
            until: Instant::now().checked_add(limits.search_time),
            most: limits.entries,
            seen: 0,
            broke_off: None,
        }
    }

    /// Counts one more entry, and tells whether the search may go on.
    pub(in crate::tools) fn step(&mut self) -> bool {
        self.seen += 1;
        if self.seen > self.most {
            let most = self.most;
            self.broke_off = Some(format!(
                "the search ended after {most} files and directories"
            ));
        }
        self.goes_on()
    }

    /// Tells whether the search may go on.
    pub(in crate::tools) fn goes_on(&mut self) -> bool {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            self.broke_off = Some("the search took too long and was ended".to_owned());
        }
        self.broke_off.is_none() && !self.stop.is_cancelled()
    }

    /// Tells whether nobody waits for the search any more.
    pub(in crate::tools) fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Returns why the search did not come to its end, if it did not.
    pub(in crate::tools) fn broke_off(&self) -> Option<&str> {
        self.broke_off.as_deref()
    }
}

/// A file that is read no longer than the search may go on.
#[derive(Debug)]
pub(in crate::tools) struct Paced<'a, R> {
    pub(in crate::tools) file: R,
    pub(in crate::tools) pace: &'a mut Pace,
}

impl<R: Read> Read for Paced<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.pace.goes_on() {
            true => self.file.read(buffer),
            false => Err(io::Error::other("the search is over")),
        }
    }
}
