//! A map keyed by command names.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map from names that are known in advance.
///
/// All keys are constants, so a fast hash is sufficient.
pub(crate) type Names<T> = HashMap<&'static str, T, BuildHasherDefault<QuickHasher>>;

/// The 64-bit FNV-1a hash, which is sufficient for short names.
pub(crate) struct QuickHasher(u64);

impl Default for QuickHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
