//! [`FaultyDisk`], a simulated disk with faults and power cuts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Disk;

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

/// Files and their names, as programs see them and as a power cut would leave them.
pub(super) struct Cache {
    pub(super) random: Random,
    files: Vec<Contents>,
    names: Names,
    synced_names: Names,
    unsynced_names: Vec<Renaming>,
}

/// The file number of each name.
type Names = BTreeMap<PathBuf, usize>;

/// Names that change atomically, with their new file numbers.
type Renaming = Vec<(PathBuf, Option<usize>)>;

struct Contents {
    bytes: Vec<u8>,
    synced: Vec<u8>,
    /// Nothing is left to be written, possibly because the bytes were discarded.
    is_clean: bool,
}

impl Cache {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            files: Vec::new(),
            names: Names::new(),
            synced_names: Names::new(),
            unsynced_names: Vec::new(),
        }
    }

    pub(super) fn file_at(&self, path: &Path) -> Option<usize> {
        self.names.get(path).copied()
    }

    pub(super) fn bytes_of(&self, file: usize) -> &[u8] {
        &self.files[file].bytes
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &PathBuf> {
        self.names.keys()
    }

    /// Adds a file that has no name yet.
    pub(super) fn add(&mut self, bytes: &[u8]) -> usize {
        self.files.push(Contents {
            bytes: bytes.to_vec(),
            synced: Vec::new(),
            is_clean: false,
        });
        self.files.len() - 1
    }

    /// Changes names, all of them or none.
    pub(super) fn rename(&mut self, renaming: &[(&Path, Option<usize>)]) {
        let owned = renaming
            .iter()
            .map(|(name, file)| (name.to_path_buf(), *file));
        let renaming: Renaming = owned.collect();
        apply(&mut self.names, renaming.clone());
        self.unsynced_names.push(renaming);
    }

    /// Makes the bytes of a file durable, unless they were discarded.
    pub(super) fn sync(&mut self, file: usize) {
        let file = &mut self.files[file];
        if !file.is_clean {
            file.synced = file.bytes.clone();
            file.is_clean = true;
        }
    }

    /// Makes all names durable that were not discarded.
    pub(super) fn sync_names(&mut self) {
        for renaming in std::mem::take(&mut self.unsynced_names) {
            apply(&mut self.synced_names, renaming);
        }
    }

    /// Makes some bytes of a file durable, with zeros between them, and discards the others.
    pub(super) fn forget_some_bytes(&mut self, file: usize) {
        const SECTOR: usize = 8;
        let file = &mut self.files[file];
        if file.is_clean {
            return;
        }
        let length = self.random.below(file.bytes.len() + 1);
        file.synced = file.bytes[..length].to_vec();
        for sector in file.synced.chunks_mut(SECTOR) {
            if self.random.below(4) == 0 {
                sector.fill(0);
            }
        }
        file.is_clean = true;
    }

    /// Makes some names durable and discards the others.
    pub(super) fn forget_some_names(&mut self) {
        let random = &mut self.random;
        self.unsynced_names.retain(|_| random.below(2) == 0);
        self.sync_names();
    }

    /// Discards everything that a power cut would lose.
    pub(super) fn lose_power(&mut self) {
        self.forget_some_names();
        self.names = self.synced_names.clone();
        for file in 0..self.files.len() {
            self.forget_some_bytes(file);
            self.files[file].bytes = self.files[file].synced.clone();
        }
    }
}

fn apply(names: &mut Names, renaming: Renaming) {
    for (name, file) in renaming {
        match file {
            Some(file) => names.insert(name, file),
            None => names.remove(&name),
        };
    }
}

/// Reproducible random numbers from a seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % limit
    }
}
