//! What agents decide in a run, whoever runs them.

use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_core::Mode;
use autonoe_testkit::Expectation;
use serde_json::{Value, json};

/// What agents decide in a run, session by session.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) mode: Mode,
    pub(crate) sessions: Vec<Session>,
    pub(crate) max_iterations: Option<u32>,
    /// The ledger that the project has before the run.
    pub(crate) plan: Option<Value>,
}

/// What an agent decides in one session: step by step, then its end.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

/// Calls that are made at once.
pub(crate) type Step = Vec<Call>;

/// A tool call and its expected outcome.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// ID of the call in the conversation, unique in this process.
    pub(crate) id: String,
    pub(crate) what: What,
    pub(crate) expect: Expectation,
    /// Texts that the result contains.
    pub(crate) shows: Vec<String>,
}

/// Effect of a call, independent of the backend's tool names.
#[derive(Clone, Debug)]
pub(crate) enum What {
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

/// How a session ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// The model has said all that it has to say.
    Says(&'static str),
    /// The service says that the quota is spent.
    QuotaSpent,
    /// The service does not know the login.
    LoginRefused,
    /// The service does not have the model.
    ModelUnknown,
    /// The service is not paid.
    Unpaid,
}

impl Story {
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

    /// Has the run begin with a plan: ids of deliverables, and the one thing that each asks for.
    pub(crate) fn with_plan<const N: usize>(mut self, deliverables: [(&str, &str); N]) -> Self {
        self.plan = Some(plan(deliverables));
        self
    }
}

impl Session {
    /// One call after the other, and then the end.
    pub(crate) fn new(calls: impl IntoIterator<Item = Call>, end: End) -> Self {
        let steps = calls.into_iter().map(|call| vec![call]).collect();
        Self { steps, end }
    }

    /// Before the end, makes these calls at once.
    pub(crate) fn then_at_once(mut self, calls: impl IntoIterator<Item = Call>) -> Self {
        self.steps.push(calls.into_iter().collect());
        self
    }
}

impl Call {
    fn new(what: What) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self {
            id: format!("call_{number}"),
            what,
            expect: Expectation::Runs,
            shows: Vec::new(),
        }
    }

    /// Expects a result that contains `text`.
    pub(crate) fn showing(mut self, text: impl Into<String>) -> Self {
        self.shows.push(text.into());
        self
    }

    /// Expects that the guards do not let it happen.
    pub(crate) fn denied(mut self) -> Self {
        self.expect = Expectation::Denied;
        self
    }

    /// Expects that the tool says no.
    pub(crate) fn failing(mut self) -> Self {
        self.expect = Expectation::Fails;
        self
    }
}

/// Creates deliverables: their ids, and the one thing that each asks for.
pub(crate) fn plans<const N: usize>(deliverables: [(&str, &str); N]) -> Call {
    tool("create", plan(deliverables))
}

fn plan<const N: usize>(deliverables: [(&str, &str); N]) -> Value {
    let deliverables = deliverables.map(|(id, criterion)| {
        json!({"id": id, "description": format!("The part {id}"), "acceptanceCriteria": [criterion]})
    });
    json!({"deliverables": deliverables.to_vec()})
}

/// Creates deliverables that are described by their goals, with ids from `DL-001` on.
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
    Call::new(What::Tool { name, input })
}

pub(crate) fn writes(file: impl Into<String>, text: impl Into<String>) -> Call {
    let (file, text) = (file.into(), text.into());
    Call::new(What::Write { file, text })
}

/// Replaces the line `old` of a file, without its line break.
pub(crate) fn edits(file: &str, old: &str, new: &str) -> Call {
    let [file, old, new] = [file, old, new].map(str::to_owned);
    Call::new(What::Edit { file, old, new })
}

pub(crate) fn reads(file: &str) -> Call {
    let file = file.to_owned();
    Call::new(What::Read { file })
}

pub(crate) fn runs(command: impl Into<String>) -> Call {
    Call::new(What::Command(command.into()))
}

pub(crate) fn calls_mcp_tool(server: &'static str, tool: &'static str, input: Value) -> Call {
    Call::new(What::Mcp {
        server,
        tool,
        input,
    })
}

/// Uses a built-in tool that only Claude Code has.
pub(crate) fn uses(tool: &'static str, input: Value) -> Call {
    Call::new(What::Claude { tool, input })
}
