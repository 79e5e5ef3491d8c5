//! Step flows: agents made of steps, defined in files and validated before they spend any money.
//!
//! A flow is a folder, usually `.autonoe/flows/{name}`, with `agent.json`
//! ([`FlowAgent`](definition::FlowAgent)), `steps_registry.json`
//! ([`StepsRegistry`](definition::StepsRegistry)) and prompts. [`load()`] reads the files of this
//! folder and no others. [`validate()`] reports the problems of a definition and changes nothing.
//! Each problem is a [`DefinitionFinding`] with a file, a pointer, a message and a hint.
//!
//! A definition without errors becomes a [`ValidatedFlow`], and only a [`ValidatedFlow`] can run.
//! [`FlowRun`] runs it in a project, with the lock, settings and journal of the project. This
//! example defines a flow in code and validates it:
//!
//! ```
//! use autonoe_flow::definition::{ParameterDefinition, WorkStep};
//! use autonoe_flow::{FlowBuilder, FlowGraph, ParameterValues};
//! use serde_json::json;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // `autonoe_flow::load(folder)` reads the same from files.
//!     let who: ParameterDefinition =
//!         serde_json::from_value(json!({"type": "string", "default": "world"}))?;
//!     let definition = FlowBuilder::new("hello")
//!         .parameter("who", who)
//!         .step("greet", "Say hello to {uv-who}.", WorkStep::default())
//!         .build()?;
//!
//!     let flow = definition.validated()?;
//!
//!     let parameters = &flow.definition().agent().parameters;
//!     let values = ParameterValues::from_args(parameters, ["--who", "Ada"])?;
//!     assert_eq!(values.variables()["who"], "Ada");
//!     assert!(FlowGraph::new(flow.definition().registry()).to_dot().starts_with("digraph flow {\n"));
//!     Ok(())
//! }
//! ```
//!
//! | you want to | see |
//! | --- | --- |
//! | define a flow in code | [`FlowBuilder`] |
//! | run a flow in a project | [`FlowRun`] |
//! | run a flow on your own sessions | [`FlowFactory`], [`Flow`], [`FlowOptions`] |
//! | observe a flow | [`FlowObserver`], [`FlowEvent`] |
//! | drive a flow yourself, or on another host | [`FlowMachine`], [`FlowFact`], [`FlowAction`] |
//! | inspect the transitions of a step | [`StepPlan`](definition::StepPlan) |
//! | find a prompt and fill its variables | [`PromptResolver`](prompt::PromptResolver) |
//! | read parameters from JSON or from flags | [`ParameterValues`] |
//! | draw a flow as Mermaid or DOT | [`FlowGraph`] |
//! | get the JSON Schemas of the definition files | [`schemas()`] |
//! | import a flow from [climpt](https://github.com/tettuan/climpt), another tool for agents | [`import()`], [`ImportedFlow`](import::ImportedFlow) |
//! | check a step | [`check_step`](check::check_step), [`Judge`](autonoe_core::session::Judge), [`CommandRunner`] |
//! | check whether a flow is complete | [`build_completion`](completion::build_completion), [`FlowProgress`](progress::FlowProgress) |
//! | let an agent set outputs and send signals | [`iteration_tools`](run::iteration_tools) |
//! | notify someone of a failure | [`Notifiers`](escalation::Notifiers), [`Notifier`] |
//! | add a custom completion condition | [`CompletionSpec`], [`CompletionHandler`] |
//! | handle errors | [`FlowError`], [`FlowErrorKind`] |
//!
//! | module | contents |
//! | --- | --- |
//! | [`definition`] | the types of the definition files |
//! | [`mod@load`] | loads the files of a flow, or builds a flow in code |
//! | [`mod@validate`] | checks a definition; the kinds of problems |
//! | [`parameters`] | the values of parameters |
//! | [`prompt`] | prompts: search paths, templates and variables |
//! | [`run`] | runs a flow, from a valid definition to its result; the tools of its agents |
//! | [`machine`] | the flow as a state machine without I/O |
//! | [`progress`] | the progress of a flow, as completion conditions see it |
//! | [`check`] | the checks of steps, and the commands that they run |
//! | [`completion`] | completion conditions at run time, and the port of custom ones |
//! | [`escalation`] | notifications about a step that has failed for good |
//! | [`mod@import`] | imports flows that were written for climpt |
//!
//! | feature | adds |
//! | --- | --- |
//! | `webhook` (default) | `escalation::WebhookNotifier`: escalations to an HTTP service |
//!
//! The library never prints, exits or reads the environment.

pub mod check;
pub mod completion;
pub mod definition;
mod error;
pub mod escalation;
mod finding;
mod graph;
pub mod import;
pub mod load;
pub mod machine;
pub mod parameters;
pub mod progress;
pub mod prompt;
pub mod run;
mod tools;
pub mod validate;
mod walk;

/// Crates whose types are part of this API, in the versions that it uses.
pub use {autonoe_core, autonoe_process};

pub use check::CommandRunner;
pub use completion::{CompletionHandler, CompletionSpec};
pub use definition::{FlowName, StepId, schemas};
pub use error::{FlowError, FlowErrorKind, FlowLayer};
pub use escalation::Notifier;
pub use finding::DefinitionFinding;
pub use graph::FlowGraph;
pub use import::import;
pub use load::{FlowBuilder, FlowDefinition, LoadError, load};
pub use machine::{FlowAction, FlowEnd, FlowFact, FlowLimits, FlowMachine, FlowResult};
pub use parameters::ParameterValues;
pub use prompt::Template;
pub use run::{
    Flow, FlowEvent, FlowFactory, FlowObserver, FlowOptions, FlowRun, FlowRunError, StartOptions,
    Started,
};
pub use validate::{ValidatedFlow, ValidationReport, validate};
