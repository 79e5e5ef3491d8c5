//! [`Cache`], the volatile and the durable state of a simulated disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
