//! Codex backend of Autonoe.
//!
//! [`CodexBackend`] drives `codex app-server`, one process for each session. Autonoe's gate decides
//! about commands, patches, calls of MCP servers and calls of Autonoe's tools before they run. The
//! embedding process serves Autonoe's tools.
//!
//! Resources that an agent reads from MCP servers do not pass the gate, because the program
//! requests no permission for them. [`Capabilities`](autonoe_core::Capabilities) therefore claim
//! only partial hook coverage, and a run needs an outer sandbox. The backend never relies on the
//! program's own sandbox: an approved command may leave it.
//! [`ProgramOptions::sandbox`](autonoe_backend::ProgramOptions::sandbox) configures Autonoe's
//! sandbox, in which the whole program runs.
//!
//! ```no_run
//! use autonoe_codex::{CodexBackend, CodexOptions, CodexProvider};
//! use autonoe_core::agent::OuterSandbox;
//! use autonoe_core::{Project, ProjectRun, RunControl};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let environment = ["PATH", "OPENAI_API_KEY"]
//!         .into_iter()
//!         .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
//!     let mut options = CodexOptions::found_on_path(environment)?;
//!     options.program.model = Some("gpt-5.5".into());
//!     options.provider = Some(CodexProvider::new("https://api.openai.com/v1", "OPENAI_API_KEY"));
//!     options.program.sandbox.hidden.push("/home/ada/.ssh".into());
//!     let agents = CodexBackend::new(options);
//!
//!     // By default, `ProjectRun` adds an MCP server with a browser.
//!     let project = Project::find(&std::env::current_dir()?, None)?;
//!     let run = ProjectRun::new(project, agents)
//!         .configure(|runner| runner.outer_sandbox(OuterSandbox::bubblewrap()));
//!     let report = run.run(&RunControl::new()).await?;
//!     println!("{report}");
//!     Ok(())
//! }
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`CodexBackend`] | the backend, an `AgentClientFactory` |
//! | [`CodexOptions`] | the options of the program |
//! | [`CodexProvider`] | the service of the model, and the variable with its key |
//! | [`CodexHome`] | the folder with the program's login and conversations |
//! | [`Effort`] | the reasoning effort of the model |
//! | [`CodexSpec`] | the backend in a configuration file, `"type": "codex"` |
//!
//! The message formats were recorded from version 0.166.0. An unknown message or item is kept
//! unchanged and is not an error. Unknown fields are ignored. The raw line keeps them and is logged
//! at trace level. Only a permission request with an unknown field is refused, because it could
//! request more.

mod backend;
mod backend_spec;
// Public for the tests of this project only.
#[doc(hidden)]
pub mod events;
mod launch;
// Public for the tests of this project only.
#[doc(hidden)]
pub mod outcome;
mod probe;
mod session;
// Public for the tests of this project only.
#[doc(hidden)]
pub mod wire;

pub use backend::CodexBackend;
pub use backend_spec::{CodexSpec, Effort};
pub use launch::{CodexHome, CodexOptions, CodexProvider};
