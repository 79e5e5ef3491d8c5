//! [`FaultyDisk`], a simulated disk with faults and power cuts.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::disk::Disk;

/// An in-memory disk with failing calls and power cuts, driven by a seed.
///
/// Any part of the unsynced data may survive a power cut: some of the changed names, and some of a
/// file's bytes, with zeros between them. A failed sync discards what it did not write, so that a
/// later sync has nothing left to do.
pub(super) struct FaultyDisk(RefCell<State>);

struct State {
    cache: Cache,
    fails: FaultSchedule,
    /// The number of calls until the power cut.
    power_for: usize,
}

/// The pattern of failing calls.
#[derive(Clone, Copy, Debug)]
pub(super) enum FaultSchedule {
    Never,
    /// The call after this many more calls fails.
    After(usize),
    /// One of this many calls fails.
    OneIn(usize),
}

impl FaultyDisk {
    pub(super) fn new(seed: u64) -> Self {
        Self(RefCell::new(State {
            cache: Cache::new(seed),
            fails: FaultSchedule::Never,
            power_for: usize::MAX,
        }))
    }

    /// Sets the pattern of failing calls.
    pub(super) fn set_faults(&self, fails: FaultSchedule) {
        self.0.borrow_mut().fails = fails;
    }

    /// Cuts the power after a random number of calls below `limit`.
    pub(super) fn cut_power_within(&self, limit: usize) {
        let mut state = self.0.borrow_mut();
        state.power_for = state.cache.random.below(limit);
    }

    pub(super) fn has_power(&self) -> bool {
        self.0.borrow().power_for > 0
    }

    /// Restarts after a power cut, with the data that survived.
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

impl Disk for FaultyDisk {
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
    /// Counts a call and returns its result. A failing call may have had a part of its effect.
    /// Without power, nothing happens.
    fn call(&mut self) -> io::Result<io::Result<()>> {
        if self.power_for == 0 {
            return Err(io::Error::other("the power is off"));
        }
        self.power_for -= 1;
        let fails = match &mut self.fails {
            FaultSchedule::Never => false,
            FaultSchedule::After(0) => {
                self.fails = FaultSchedule::Never;
                true
            }
            FaultSchedule::After(more) => {
                *more -= 1;
                false
            }
            FaultSchedule::OneIn(so_many) => self.cache.random.below(*so_many) == 0,
        };
        Ok(if fails {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        })
    }
}
