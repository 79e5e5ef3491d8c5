//! Step flows: agents made of steps, defined in files and checked before any money is spent.
//!
//! A flow is a folder, mostly `.autonoe/flows/{name}`, with `agent.json`
//! ([`FlowAgent`]), `steps_registry.json` ([`StepsRegistry`]) and prompts.
//! [`load`] reads it, and no file outside of it. [`validate`] finds what is
//! wrong with it and changes nothing: each [`Finding`] has a file, a pointer, a
//! sentence and a hint. Only a [`ValidatedFlow`] can be built from.
//!
//! | you want to | look at |
//! | --- | --- |
//! | define a flow in code | [`FlowBuilder`] |
//! | run a flow in a project | [`FlowRun`] |
//! | run a flow on sessions of your own | [`FlowFactory`], [`Flow`], [`FlowOptions`] |
//! | be told what a flow does | [`FlowObserver`], [`FlowEvent`] |
//! | drive a flow yourself, or elsewhere | [`FlowMachine`], [`FlowFact`], [`FlowAction`] |
//! | know what a step leads to | [`StepPlan`] |
//! | find a prompt and fill its variables | [`PromptResolver`] |
//! | read parameters from JSON or from flags | [`ParameterValues`] |
//! | look at a flow | [`FlowGraph`] |
//! | take a flow over from climpt | [`import`], [`ImportedFlow`] |
//! | judge a step | [`StepChecker`], [`Judge`], [`CommandRunner`] |
//! | know whether a flow is complete | [`build_completion`], [`FlowProgress`] |
//! | let an agent set outputs and give signals | [`iteration_tools`], [`verdict_tool`] |
//! | tell somebody outside of a failure | [`Notifiers`], [`Notifier`] |
//! | bring a completion condition of your own | [`CompletionSpec`], [`CompletionHandler`] |
//! | know what can go wrong | [`FlowError`], [`FlowErrorKind`] |
//!
//! The library never prints, exits or reads the environment.

mod check;
mod command;
mod completion;
mod definition;
mod error;
mod escalation;
mod finding;
mod graph;
mod import;
mod load;
mod machine;
mod parameters;
mod port;
mod progress;
mod prompt;
mod run;
mod schemas;
mod suggest;
mod tools;
mod validate;
mod walk;

/// Crates whose types are part of this API, in the versions that it uses.
pub use {autonoe_core, autonoe_process};

pub use check::*;
pub use command::*;
pub use completion::*;
pub use definition::*;
pub use error::{FlowError, FlowErrorKind, FlowLayer};
pub use escalation::*;
pub use finding::{Finding, FindingKind};
pub use graph::FlowGraph;
pub use import::{ImportNote, ImportNoteKind, ImportPlace, ImportedFlow, import};
pub use load::{AGENT_FILE, FlowBuilder, FlowDefinition, LoadError, flows_in, load};
pub use machine::{
    Answer, CheckOrder, CheckVerdict, CompletionOrder, CompletionVerdict, ContextCarry, Expense,
    FlowAction, FlowEnd, FlowFact, FlowFailure, FlowLimits, FlowMachine, FlowResult, FlowWait,
    IterationSummary, NotifyOrder, PromptOrder, PromptOutcome, RuntimeContext, SessionChoice,
    StepRecord, StepTry,
};
pub use parameters::{ParameterError, ParameterErrors, ParameterValue, ParameterValues};
pub use port::*;
pub use progress::{FlowProgress, Signal, Watched, stands_in, words_in};
pub use prompt::{
    CONTEXT_VARIABLES, Filled, PromptOrigin, PromptResolver, ResolvedPrompt, Template,
    TemplateError, Variables,
};
pub use run::*;
pub use schemas::schemas;
pub use tools::{
    Collected, IterationSlot, SET_OUTPUTS, SIGNAL, VERDICT, VerdictSlot, iteration_tools,
    verdict_tool,
};
pub use validate::{ValidatedFlow, ValidationReport, validate};
