//! A disk that keeps to the letter of what it promises, and to nothing else.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::disk::Disk;

/// A disk in memory whose calls fail and whose power is cut, as a seed says.
///
/// What was not synced survives a power cut in any part: some of the changed
/// names, and of a file's bytes some, with zeros between them. A sync that
/// fails has forgotten what it did not write, so that a later one has nothing
/// left to do.
pub(super) struct LyingDisk(RefCell<State>);

struct State {
    cache: Cache,
    fails: Fails,
    /// How many calls there are before the power is cut.
    power_for: usize,
}

/// When a call fails.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fails {
    Never,
    /// The call after so many more does.
    After(usize),
    /// One call of so many does.
    OneIn(usize),
}

impl LyingDisk {
    pub(super) fn new(seed: u64) -> Self {
        Self(RefCell::new(State {
            cache: Cache::new(seed),
            fails: Fails::Never,
            power_for: usize::MAX,
        }))
    }

    /// From now on calls fail as `fails` says.
    pub(super) fn fails(&self, fails: Fails) {
        self.0.borrow_mut().fails = fails;
    }

    /// Cuts the power after a number of calls that is below `limit`.
    pub(super) fn cut_power_within(&self, limit: usize) {
        let mut state = self.0.borrow_mut();
        state.power_for = state.cache.random.below(limit);
    }

    pub(super) fn has_power(&self) -> bool {
        self.0.borrow().power_for > 0
    }

    /// Comes back after a power cut, with what has survived it.
    pub(super) fn restart(&self) {
        let mut state = self.0.borrow_mut();
        state.cache.lose_power();
        state.power_for = usize::MAX;
    }

    pub(super) fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let cache = &self.0.borrow().cache;
        let file = cache.file_at(path)?;
        Some(cache.bytes_of(file).to_vec())
    }

    pub(super) fn names(&self) -> Vec<PathBuf> {
        self.0.borrow().cache.names().cloned().collect()
    }
}

impl Disk for LyingDisk {
    type File = usize;

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.call()??;
        if state.cache.file_at(path).is_some() {
            state.cache.rename(&[(path, None)]);
        }
        Ok(())
    }

    fn write_new(&self, path: &Path, _: &Path, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.borrow_mut();
        let ended = state.call()?;
        if state.cache.file_at(path).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let room = match ended {
            Ok(()) => bytes.len(),
            Err(_) => state.cache.random.below(bytes.len()),
        };
        let file = state.cache.add(&bytes[..room]);
        state.cache.rename(&[(path, Some(file))]);
        ended.map(|()| file)
    }

    fn sync(&self, file: &usize) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        let ended = state.call()?;
        match ended {
            Ok(()) => state.cache.sync(*file),
            Err(_) => state.cache.forget_some_bytes(*file),
        }
        ended
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        state.call()??;
        let file = state.cache.file_at(from).ok_or(io::ErrorKind::NotFound)?;
        state.cache.rename(&[(from, None), (to, Some(file))]);
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        let ended = state.call()?;
        match ended {
            Ok(()) => state.cache.sync_names(),
            Err(_) => state.cache.forget_some_names(),
        }
        ended
    }
}

impl State {
    /// Counts a call and says how it ends; one that ends with an error may have had a part of
    /// its effect. Without power, nothing happens.
    fn call(&mut self) -> io::Result<io::Result<()>> {
        if self.power_for == 0 {
            return Err(io::Error::other("the power is off"));
        }
        self.power_for -= 1;
        let fails = match &mut self.fails {
            Fails::Never => false,
            Fails::After(0) => {
                self.fails = Fails::Never;
                true
            }
            Fails::After(more) => {
                *more -= 1;
                false
            }
            Fails::OneIn(so_many) => self.cache.random.below(*so_many) == 0,
        };
        Ok(match fails {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        })
    }
}
