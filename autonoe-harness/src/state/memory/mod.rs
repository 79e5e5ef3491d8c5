//! State that is gone with its process: for tests and for those who need no more.

mod meta;
mod model;
mod store;

pub use meta::MemoryMeta;
pub use store::MemoryState;
