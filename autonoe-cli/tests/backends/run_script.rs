//! `RunScript`, the decisions of agents in a run, independent of the backend.

use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_core::Mode;
use autonoe_testkit::Expectation;
use serde_json::{Value, json};

/// The decisions of agents in a run, by session.
#[derive(Clone, Debug)]
pub(crate) struct RunScript {
    pub(crate) mode: Mode,
    pub(crate) sessions: Vec<Session>,
    pub(crate) max_iterations: Option<u32>,
    /// The ledger of the project before the run.
    pub(crate) plan: Option<Value>,
}

/// The decisions of an agent in one session: its steps, then its end.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

/// Parallel calls.
pub(crate) type Step = Vec<Call>;

/// A tool call and its expected outcome.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// ID of the call in the conversation, unique in this process.
    pub(crate) id: String,
    pub(crate) effect: Effect,
    pub(crate) expect: Expectation,
    /// Texts that the result contains.
    pub(crate) shows: Vec<String>,
}

/// Effect of a call, independent of the backend's tool names.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// Uses one of the deliverable tools.
    Tool { name: &'static str, input: Value },
    /// Writes a new file of the project. The text ends with a line break.
    Write { file: String, text: String },
    /// Replaces whole lines of a file of the project.
    Edit {
        file: String,
        old: String,
        new: String,
    },
    /// Reads a file of the project.
    Read { file: String },
    /// Runs a command.
    Command(String),
    /// Uses a tool of an MCP server of the project.
    Mcp {
        server: &'static str,
        tool: &'static str,
        input: Value,
    },
    /// Uses a built-in tool of Claude Code that the other backends do not have.
    Claude { tool: &'static str, input: Value },
}

/// End of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// The model finishes with this text.
    Text(&'static str),
    /// The service reports an exhausted quota.
    QuotaSpent,
    /// The service rejects the login.
    LoginRefused,
    /// The service does not know the model.
    ModelUnknown,
    /// The service requires a payment.
    Unpaid,
}

impl RunScript {
    pub(crate) fn new(sessions: impl IntoIterator<Item = Session>) -> Self {
        Self {
            mode: Mode::Run,
            sessions: sessions.into_iter().collect(),
            max_iterations: None,
            plan: None,
        }
    }

    pub(crate) fn in_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    pub(crate) fn with_max_iterations(mut self, sessions: u32) -> Self {
        self.max_iterations = Some(sessions);
        self
    }

    /// Starts the run with a plan: IDs of deliverables, each with one criterion.
    pub(crate) fn with_plan<const N: usize>(mut self, deliverables: [(&str, &str); N]) -> Self {
        self.plan = Some(plan(deliverables));
        self
    }
}

impl Session {
    /// Creates a session of calls, one after the other.
    pub(crate) fn new(calls: impl IntoIterator<Item = Call>, end: End) -> Self {
        let steps = calls.into_iter().map(|call| vec![call]).collect();
        Self { steps, end }
    }

    /// Adds parallel calls before the end.
    pub(crate) fn then_at_once(mut self, calls: impl IntoIterator<Item = Call>) -> Self {
        self.steps.push(calls.into_iter().collect());
        self
    }
}

impl Call {
    fn new(effect: Effect) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self {
            id: format!("call_{number}"),
            effect,
            expect: Expectation::Runs,
            shows: Vec::new(),
        }
    }

    /// Expects a result that contains `text`.
    pub(crate) fn expects_text(mut self, text: impl Into<String>) -> Self {
        self.shows.push(text.into());
        self
    }

    /// Expects that the gate denies the call.
    pub(crate) fn denied(mut self) -> Self {
        self.expect = Expectation::Denied;
        self
    }

    /// Expects that the tool fails.
    pub(crate) fn failing(mut self) -> Self {
        self.expect = Expectation::Fails;
        self
    }
}

/// Creates deliverables with these IDs, each with one criterion.
pub(crate) fn plans<const N: usize>(deliverables: [(&str, &str); N]) -> Call {
    tool("create", plan(deliverables))
}

fn plan<const N: usize>(deliverables: [(&str, &str); N]) -> Value {
    let deliverables = deliverables.map(|(id, criterion)| {
        json!({"id": id, "description": format!("The part {id}"), "acceptanceCriteria": [criterion]})
    });
    json!({"deliverables": deliverables.to_vec()})
}

/// Creates deliverables with these goals as descriptions, and IDs from `DL-001` on.
pub(crate) fn plans_goals<'a>(goals: impl IntoIterator<Item = &'a str>) -> Call {
    let deliverables = goals.into_iter().enumerate().map(|(index, goal)| {
        let id = format!("DL-{:03}", index + 1);
        json!({"id": id, "description": goal, "acceptanceCriteria": ["it works"]})
    });
    tool(
        "create",
        json!({"deliverables": deliverables.collect::<Vec<_>>()}),
    )
}

pub(crate) fn sets(id: &str, status: &str) -> Call {
    let input = json!({"deliverableId": id, "status": status});
    tool("set_status", input)
}

pub(crate) fn verifies(id: &str) -> Call {
    tool("verify", json!({"deliverableId": id}))
}

pub(crate) fn deprecates(id: &str) -> Call {
    tool("deprecate", json!({"deliverableId": id}))
}

pub(crate) fn lists() -> Call {
    tool(
        "list",
        json!({"filter": {"status": "pending"}, "limit": 10}),
    )
}

fn tool(name: &'static str, input: Value) -> Call {
    Call::new(Effect::Tool { name, input })
}

pub(crate) fn writes(file: impl Into<String>, text: impl Into<String>) -> Call {
    let (file, text) = (file.into(), text.into());
    Call::new(Effect::Write { file, text })
}

/// Replaces the line `old` of a file, without its line break.
pub(crate) fn edits(file: &str, old: &str, new: &str) -> Call {
    let [file, old, new] = [file, old, new].map(str::to_owned);
    Call::new(Effect::Edit { file, old, new })
}

pub(crate) fn reads(file: &str) -> Call {
    let file = file.to_owned();
    Call::new(Effect::Read { file })
}

pub(crate) fn runs(command: impl Into<String>) -> Call {
    Call::new(Effect::Command(command.into()))
}

pub(crate) fn calls_mcp_tool(server: &'static str, tool: &'static str, input: Value) -> Call {
    Call::new(Effect::Mcp {
        server,
        tool,
        input,
    })
}

/// Uses a built-in tool that only Claude Code has.
pub(crate) fn uses(tool: &'static str, input: Value) -> Call {
    Call::new(Effect::Claude { tool, input })
}
