//! Tests of the commands on an in-memory cluster, whose hosts are folders.

mod control;
mod fake_cluster;
mod logs;
mod submit;
pub(super) mod unreachable_cluster;
mod unwritable;
mod wait;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use crate::output::Output;

/// Collects written bytes.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn text(&self) -> String {
        let bytes = self.0.lock().expect("not poisoned").clone();
        String::from_utf8(bytes).expect("text")
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("not poisoned").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The output of a command.
#[derive(Clone, Default)]
pub(super) struct Printed {
    results: Buffer,
    notes: Buffer,
}

impl Printed {
    pub(super) fn output(&self) -> Output {
        Output::new(self.results.clone(), self.notes.clone())
    }

    pub(super) fn results(&self) -> String {
        self.results.text()
    }

    pub(super) fn notes(&self) -> String {
        self.notes.text()
    }
}
