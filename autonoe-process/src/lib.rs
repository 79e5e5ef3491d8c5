//! Child processes that are ended with their whole process tree.
//!
//! An agent starts other programs. They may create their own Unix sessions, move to the background
//! and outlive the agent. This crate starts a child so that it can find all processes that the
//! child starts. It ends the child and its whole process tree when the child is shut down, when its
//! handle is dropped, and as far as possible when this program dies.
//!
//! ```
//! use autonoe_process::{EndedBy, Exit, Launch, Marker, ShutdownPolicy, StartedProcess};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let marker = Marker::new("AUTONOE_SESSION", format!("example-{}", std::process::id()))?;
//!     let launch = Launch::new("/bin/sh", "/", marker)
//!         .args(["-c", "read line; echo \"$GREETING, $line\" >&2; echo done; exit 3"])
//!         .env("GREETING", "Good morning");
//!
//!     let StartedProcess { process, mut stdin, mut stdout } = launch.start().await?;
//!     stdin.write_all(b"Ada\n").await?;
//!     let mut output = String::new();
//!     stdout.read_to_string(&mut output).await?;
//!
//!     assert_eq!(output, "done\n");
//!     assert_eq!(process.exited().await, Exit::Code(3));
//!     assert_eq!(process.stderr_tail(), "Good morning, Ada\n");
//!
//!     let end = process.shutdown(ShutdownPolicy::default()).await;
//!     assert_eq!(end.ended_by, EndedBy::Itself);
//!     assert!(end.is_complete());
//!     Ok(())
//! }
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`Launch`] | the program to start. The environment starts empty, and an open file such as a lock can be [inherited](Launch::inherit) |
//! | [`Process`], [`Stdin`], [`Stdout`] | a child and its pipes. Its standard error is read continuously, and the end of it is kept |
//! | [`ShutdownPolicy`], [`ShutdownReport`] | the steps that end a child, and their report |
//! | [`DetachedProcess`], [`ProcessIdentity`] | a child that keeps running when this program ends, and the identity that finds it again |
//! | [`Marker`] | finds processes without a handle, for example those of a killed program. [`Marker::propagate`] passes an inherited marker to the children of this program |
//! | [`SessionFolder`], [`SessionParent`] | a folder that is removed when the last process of the session has ended, and the parent folder of all of them |
//! | [`OsSandbox`] | restricts a child: the paths that it can read and write, and its network. [`Launch::sandbox()`] starts it in the sandbox or not at all |
//! | [`ProcessRunner`], [`find_program`] | runs commands to completion; finds a program in `PATH` |
//! | [`refuse_bare_repositories`], [`add_git_setting`] | set up Git for a child |
//!
//! The crate is made for Linux, where each child has a supervisor process that adopts its orphans.
//! A shutdown ends the process tree of the supervisor, including daemons with a Unix session and an
//! environment of their own. It searches by marker only as a fallback: without a supervisor, or if
//! processes remain. Other Unix systems have only the process group: the child gets no signal when
//! this program dies, and a shutdown does not find processes that left the group.
//!
//! The crate does not read the environment (except to check for a marker on request), install
//! signal handlers or print. It needs a tokio runtime to start a child and to communicate with it,
//! but none to end it.

#![deny(unsafe_code)]

#[cfg(not(unix))]
compile_error!("autonoe-process needs a Unix system");

mod before_exec;
mod commands;
mod exit;
mod find_program;
mod git_settings;
mod identity;
mod inherited;
mod keeper;
mod launch;
mod marker;
mod process;
mod process_tree;
mod sandbox;
mod session_folder;
mod session_parent;
mod shutdown_policy;
mod start;
mod stdio;
#[cfg(target_os = "linux")]
mod supervisor;
mod table;

pub use commands::{CommandError, CommandOutcome, CommandOutput, ProcessRunner};
pub use exit::{Exit, wait_for_shutdowns};
pub use find_program::find_program;
pub use git_settings::{add_git_setting, refuse_bare_repositories};
pub use identity::{ProcessIdentity, kill_all_children};
pub use launch::{Launch, LaunchError};
pub use marker::{InvalidMarker, Marker};
pub use process::{DetachedProcess, Process};
pub use sandbox::{Network, Obstacle, OsSandbox, SandboxError};
pub use session_folder::SessionFolder;
pub use session_parent::SessionParent;
pub use shutdown_policy::{
    EndedBy, KillReport, ProcessInfo, ShutdownAction, ShutdownPolicy, ShutdownReport, Signal,
};
pub use start::StartedProcess;
pub use stdio::{Stdin, Stdout};
