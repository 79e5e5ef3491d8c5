//! Child processes that leave nothing behind.
//!
//! Agents are programs that start programs, which make sessions of their own, go into
//! the background and outlive them. Here a child is started so that everything it starts
//! can be found again, and ended so that nothing of it is left: when it is shut down,
//! when its handle is dropped, and as far as that is possible when this program dies.
//!
//! - [`Launch`] says what to start: the environment begins empty, and an open file such
//!   as a lock can be [inherited](Launch::inherit).
//! - [`Process`] is a child, [`Stdin`] and [`Stdout`] its pipes. Its standard error is read
//!   all the time and the end of it kept.
//! - [`Ladder`] says how a child is ended, step by step; [`ShutDown`] tells how it went.
//! - [`Outliving`] is a child that goes on when this program ends, and [`ProcessIdentity`] finds it
//!   again.
//! - [`Marker`] finds processes without a handle, for example those of a program that was killed.
//!   A marker that this program was itself started with can be [handed on](Marker::hand_on).
//! - [`SessionFolder`] is a folder that is removed with the last process; [`SessionParent`] is the one
//!   that all of them are in.
//! - [`OsSandbox`] says what holds around a child: what it can write and see, and whether it
//!   has a network. [`Launch::inside`] starts it there or not at all.
//! - [`Commands`] runs commands to their end. [`find_program`] looks for a program.
//! - [`refuse_bare_repositories`] and [`add_git_setting`] set up Git for a child.
//!
//! The crate is made for Linux, where each child has a supervisor process that adopts its orphans.
//! A shutdown ends the process tree of the supervisor, including daemons with a session and an
//! environment of their own. It searches for the marker only when there is no supervisor, or when a
//! process is left. Other Unix systems have only the process group: the child gets no signal when
//! this program dies, and a shutdown does not find processes that left the group.
//!
//! It does not read the environment (but for a marker that it is asked about), install signal handlers or print; it needs a tokio
//! runtime to start a child and to talk to it, but none to end it.

#![deny(unsafe_code)]

#[cfg(not(unix))]
compile_error!("autonoe-process needs a Unix system");

mod before_exec;
mod commands;
mod exit;
mod family;
mod find_program;
mod git_settings;
mod identity;
mod inherited;
mod keeper;
mod ladder;
mod launch;
mod launch_error;
mod marker;
mod outliving;
mod process;
mod sandbox;
mod session_folder;
mod session_parent;
mod signal;
mod start;
mod stderr_tail;
mod stdio;
#[cfg(target_os = "linux")]
mod supervisor;
mod table;

pub use commands::{CommandEnd, CommandError, CommandOutput, Commands};
pub use exit::{Exit, wait_for_shut_downs};
pub use find_program::find_program;
pub use git_settings::{add_git_setting, refuse_bare_repositories};
pub use identity::{ProcessIdentity, kill_everything};
pub use ladder::{Action, EndedBy, Ladder, ProcessInfo, ShutDown, Step, Sweep};
pub use launch::Launch;
pub use launch_error::LaunchError;
pub use marker::{InvalidMarker, Marker};
pub use outliving::Outliving;
pub use process::Process;
pub use sandbox::{NestedSandboxes, Network, Obstacle, OsSandbox, SandboxError};
pub use session_folder::SessionFolder;
pub use session_parent::SessionParent;
pub use signal::Signal;
pub use start::Started;
pub use stdio::{Stdin, Stdout};
