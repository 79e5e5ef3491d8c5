//! Files of a fleet, as version 0.1 wrote them, in `v1`. They are never written again: a later
//! release must read these bytes, or change the version and say so in STABILITY.md.

mod databases;
mod member;

use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/compat/v1/{name}"))
}
