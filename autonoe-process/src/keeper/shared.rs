//! What a keeper and the handle of its child share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::Exit;
use crate::addressee::Addressee;
use crate::stderr_tail::StderrTail;
use crate::stdio::StdinSlot;

/// What a keeper and the handle of its child share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// How the child ended; set when all that it wrote to its standard error was read.
    pub(crate) exit: watch::Sender<Option<Exit>>,
    pub(crate) stdin: Arc<StdinSlot>,
    /// Who gets the signals that are meant for the program.
    pub(crate) addressee: Addressee,
    stderr: Mutex<StderrTail>,
}

impl Shared {
    pub(crate) fn new(stderr_limit: usize, addressee: Addressee) -> Arc<Self> {
        Arc::new(Self {
            exit: watch::Sender::new(None),
            stdin: Arc::default(),
            addressee,
            stderr: Mutex::new(StderrTail::new(stderr_limit)),
        })
    }

    pub(crate) fn stderr(&self) -> MutexGuard<'_, StderrTail> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
