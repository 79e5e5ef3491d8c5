//! What agents decide in a run, whoever runs them.

use autonoe_core::Mode;
use autonoe_testkit::Expectation;
use serde_json::{Value, json};

/// What agents decide in a run, session by session.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) mode: Mode,
    pub(crate) sessions: Vec<Session>,
    pub(crate) max_iterations: Option<u32>,
}

/// What an agent decides in one session: step by step, then its end.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

/// Calls that are made at once.
pub(crate) type Step = Vec<Call>;

/// A call, and what is expected to come of it.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) what: What,
    pub(crate) expect: Expectation,
}

/// What a call does, in nobody's words.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// Uses one of the deliverable tools.
    Tool { name: &'static str, input: Value },
    /// Writes a new file of the project; the text ends with a line.
    Write {
        file: &'static str,
        text: &'static str,
    },
    /// Runs a command.
    Command(&'static str),
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
        let expect = Expectation::Runs;
        Self { what, expect }
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
    let deliverables = deliverables.map(|(id, criterion)| {
        json!({"id": id, "description": format!("The part {id}"), "acceptanceCriteria": [criterion]})
    });
    let input = json!({"deliverables": deliverables.to_vec()});
    tool("create", input)
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

pub(crate) fn writes(file: &'static str, text: &'static str) -> Call {
    Call::new(What::Write { file, text })
}

pub(crate) fn runs(command: &'static str) -> Call {
    Call::new(What::Command(command))
}
