//! Support for tests of backends that drive a real program: timeouts, folders, git, hosts to kill,
//! and observed runs.
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
mod timeout;
mod watched_run;

pub use camera::Camera;
pub use folders::{files_in, git, names_in, processes_in, sessions_in};
pub use host::Host;
pub use timeout::{TIMEOUT, collect_events, eventually, within};
pub use watched_run::{WatchedRun, status_on_disk};
