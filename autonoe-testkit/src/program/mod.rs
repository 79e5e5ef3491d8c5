//! What tests of backends need that drive a real program: patience, folders, git, hosts that are
//! killed, and runs that are watched.
//!
//! ```
//! use autonoe_testkit::program::files_in;
//!
//! let project = tempfile::tempdir()?;
//! std::fs::write(project.path().join("hello.txt"), "hello")?;
//!
//! assert_eq!(files_in(project.path()), ["hello.txt"]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod camera;
mod folders;
mod host;
mod waiting;
mod watched_run;

pub use camera::Camera;
pub use folders::{files_in, git, names_in, processes_in, sessions_in};
pub use host::Host;
pub use waiting::{PATIENCE, events_of, eventually, within};
pub use watched_run::{WatchedRun, status_on_disk};
