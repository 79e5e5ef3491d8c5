//! Claude Code backend of Autonoe.
//!
//! [`ClaudeBackend`] drives the `claude` program over its stream-json protocol. Autonoe's gate
//! decides about every tool call before it runs. The embedding process serves Autonoe's tools. If
//! Claude Code starts with other settings than requested, the session fails before the agent does
//! any work.
//!
//! ```no_run
//! use autonoe_claude::{ClaudeBackend, ClaudeOptions};
//! use autonoe_core::{Project, ProjectRun, RunControl};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let environment = ["PATH", "HOME", "ANTHROPIC_API_KEY"]
//!         .into_iter()
//!         .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
//!     let mut options = ClaudeOptions::found_on_path(environment)?;
//!     options.program.model = Some("sonnet".into());
//!     options.max_turns = Some(80);
//!     let agents = ClaudeBackend::new(options);
//!
//!     let found = agents.probe_details().await?;
//!     if let Some(problem) = &found.sandbox_problem {
//!         eprintln!("no sandbox: {}; {}", problem.reason, problem.remedy);
//!     }
//!
//!     let project = Project::find(&std::env::current_dir()?, None)?;
//!     let report = ProjectRun::new(project, agents).run(&RunControl::new()).await?;
//!     println!("{report}");
//!     Ok(())
//! }
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`ClaudeBackend`] | the backend, an `AgentClientFactory` |
//! | [`ClaudeOptions`] | the options of the program |
//! | [`ConfigFolder`], [`SettingSources`] | the folder with login, settings and conversations; the settings files that apply |
//! | [`ClaudeSpec`] | the backend in a configuration file, `"type": "claude"` |
//! | [`Probe`], [`Login`], [`SandboxProblem`] | findings about the installed program |
//! | [`ClaudePermissionMode`] | the program's treatment of calls that no hook decided about |
//!
//! The message formats were recorded from two builds of the program, 2.1.197 and 2.1.325. Unknown
//! messages are kept unchanged and are not an error.

mod backend;
mod backend_spec;
// Public for the tests of this project only.
#[doc(hidden)]
pub mod events;
mod launch;
mod mcp_server;
// Public for the tests of this project only.
#[doc(hidden)]
pub mod outcome;
mod probe;
mod session;
// Public for the tests of this project only.
#[doc(hidden)]
pub mod wire;

pub use backend::{ClaudeBackend, ClaudePermissionMode};
pub use backend_spec::ClaudeSpec;
pub use launch::{ClaudeOptions, ConfigFolder, SettingSources};
pub use probe::{Login, LoginCheck, Probe, SandboxProblem};
