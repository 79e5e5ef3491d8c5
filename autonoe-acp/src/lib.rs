//! Backend of Autonoe for agents of the Agent Client Protocol, including Gemini CLI.
//!
//! [`AcpBackend`] drives any program that implements version 1 of the protocol over stdin and
//! stdout. Autonoe's gate decides about the program's permission requests. Autonoe's tools are
//! offered to the program as an MCP server. [`AcpOptions::gemini`] handles the specifics of Gemini
//! CLI: its home, its settings, its tool names, and turns that it reports as finished although the
//! answer of its model is incomplete.
//!
//! **The agent chooses the calls that it requests permission for**, so a run needs an outer
//! sandbox: the program runs in bubblewrap, as [`SandboxConfig`](autonoe_backend::SandboxConfig)
//! configures it. In it, the project (except `.autonoe` and `.harness`), the session folders and a
//! private `/tmp` are writable. Everything else is read-only.
//!
//! ```no_run
//! use autonoe_acp::{AcpBackend, AcpOptions};
//! use autonoe_core::agent::OuterSandbox;
//! use autonoe_core::{Budget, Project, ProjectRun, RunControl};
//! use autonoe_mcp::HttpToolServer;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let environment = ["PATH", "GEMINI_API_KEY"]
//!         .into_iter()
//!         .filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
//!     let mut gemini = AcpOptions::gemini_on_path(environment)?;
//!     gemini.program.model = Some("gemini-2.5-flash".into());
//!
//!     // These agents cannot use in-process tools, so they get Autonoe's tools from an MCP server.
//!     let project = Project::find(&std::env::current_dir()?, None)?;
//!     let run = ProjectRun::new(project, AcpBackend::new(gemini)).configure(|run| {
//!         run.outer_sandbox(OuterSandbox::bubblewrap())
//!             .tool_server(HttpToolServer::new())
//!             .budget(Budget::default().with_tokens(2_000_000))
//!     });
//!     let report = run.run(&RunControl::new()).await?;
//!     println!("{report}");
//!     Ok(())
//! }
//! ```
//!
//! | item | purpose |
//! | --- | --- |
//! | [`AcpBackend`] | the backend, an `AgentClientFactory` |
//! | [`AcpOptions`] | the options of an agent's program, and of Gemini CLI |
//! | [`HomeFolder`] | the home folder with the login, settings and conversations of an agent |
//! | [`AcpSpec`] | the backend in a configuration file, `"type": "acp"` |
//! | [`GeminiSpec`] | Gemini CLI in a configuration file, `"type": "gemini"` |

mod backend;
mod backend_spec;
mod events;
mod launch;
mod outcome;
mod session;
mod wire;

pub use backend::AcpBackend;
pub use backend_spec::{AcpSpec, GeminiSpec};
pub use launch::{AcpOptions, HomeFolder};
