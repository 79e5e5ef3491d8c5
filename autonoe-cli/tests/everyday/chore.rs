//! `Chore`, one piece of everyday work.

use serde_json::{Value, json};

use crate::backends::run_script::{Call, Step};
use crate::everyday::findings::Findings;
use crate::everyday::workplace::Workplace;

/// Checks the project after a chore.
type Check = Box<dyn Fn(&Workplace, &mut Findings)>;

/// One deliverable, the agent's calls for it, and the state of the project afterwards.
pub(crate) struct Chore {
    /// Description of the deliverable.
    pub(crate) goal: &'static str,
    /// Files that the project has before the run.
    pub(crate) files: Vec<(&'static str, &'static str)>,
    pub(crate) steps: Vec<Step>,
    /// Fields of `agent.json` that a user sets for such work.
    pub(crate) settings: Value,
    /// Further arguments of `autonoe run`.
    pub(crate) flags: Vec<&'static str>,
    /// Variables of the user's environment.
    pub(crate) environment: Vec<(&'static str, String)>,
    /// Entries of the project that the chore leaves behind. In a repository, a chore that leaves
    /// something ends with a commit.
    pub(crate) leaves: Vec<&'static str>,
    /// Texts that the run prints.
    pub(crate) prints: Vec<&'static str>,
    pub(crate) check: Check,
}

impl Chore {
    /// Creates a chore of calls that run one after the other.
    pub(crate) fn new(goal: &'static str, calls: impl IntoIterator<Item = Call>) -> Self {
        Self {
            goal,
            steps: calls.into_iter().map(|call| vec![call]).collect(),
            files: Vec::new(),
            settings: json!({}),
            flags: Vec::new(),
            environment: Vec::new(),
            leaves: Vec::new(),
            prints: Vec::new(),
            check: Box::new(|_, _| ()),
        }
    }

    /// Adds calls that one message of the model makes.
    pub(crate) fn at_once(mut self, calls: impl IntoIterator<Item = Call>) -> Self {
        self.steps.push(calls.into_iter().collect());
        self
    }

    pub(crate) fn file(mut self, name: &'static str, text: &'static str) -> Self {
        self.files.push((name, text));
        self
    }

    pub(crate) fn settings(mut self, settings: Value) -> Self {
        self.settings = settings;
        self
    }

    pub(crate) fn flag(mut self, flag: &'static str) -> Self {
        self.flags.push(flag);
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: String) -> Self {
        self.environment.push((name, value));
        self
    }

    pub(crate) fn prints(mut self, text: &'static str) -> Self {
        self.prints.push(text);
        self
    }

    pub(crate) fn leaves(mut self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.leaves.extend(names);
        self
    }

    pub(crate) fn check(mut self, check: impl Fn(&Workplace, &mut Findings) + 'static) -> Self {
        self.check = Box::new(check);
        self
    }
}
