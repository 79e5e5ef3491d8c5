//! [`Case`], one defect of a project and the expected messages.

use std::path::Path;

use crate::bad_input::attempt::Attempt;
use crate::bad_input::folder::Folder;
use crate::bad_input::other_process::{Limits, OrdinaryUser};
use crate::bad_input::tree::{Tree, differences, tree};

/// Files that record the holder of a lock. Every process that tries to acquire a lock creates and
/// writes them, even if it fails.
const LOCKS: [&str; 2] = [".autonoe/run.lock", ".autonoe/status.lock"];

type Change = Box<dyn Fn(&Folder)>;

/// A defect of a project, and the operations that encounter it.
pub(crate) struct Case {
    name: String,
    attempts: Vec<Attempt>,
    deliverables: usize,
    damage: Change,
    executor: Executor,
    may_change: Option<&'static str>,
}

enum Executor {
    OwnProcess,
    /// An ordinary user, after the permissions were changed.
    User {
        forbid: Change,
        limits: Limits,
    },
}

impl Case {
    pub(crate) fn new(
        name: impl Into<String>,
        attempts: impl Into<Vec<Attempt>>,
        damage: impl Fn(&Folder) + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            attempts: attempts.into(),
            deliverables: 3,
            damage: Box::new(damage),
            executor: Executor::OwnProcess,
            may_change: None,
        }
    }

    /// Runs the operations as an ordinary user, after `forbid` has removed permissions.
    pub(crate) fn forbidding(mut self, forbid: impl Fn(&Folder) + 'static) -> Self {
        self.executor = Executor::User {
            forbid: Box::new(forbid),
            limits: Limits::Nothing,
        };
        self
    }

    /// Runs the operations in a process with these limits.
    pub(crate) fn within(mut self, limits: Limits) -> Self {
        self.executor = Executor::User {
            forbid: Box::new(|_| {}),
            limits,
        };
        self
    }

    /// Creates a ledger larger than the usual three deliverables.
    pub(crate) fn with_deliverables(mut self, deliverables: usize) -> Self {
        self.deliverables = deliverables;
        self
    }

    /// Allows one file to change, as documented.
    pub(crate) fn but_may_change(mut self, name: &'static str) -> Self {
        self.may_change = Some(name);
        self
    }

    /// Creates the defect, performs all operations and returns their messages. Fails if a file has
    /// changed.
    pub(crate) fn try_out(&self) -> String {
        let folder = Folder::new(self.deliverables);
        (self.damage)(&folder);
        let mut messages: Vec<(String, String)> = Vec::new();
        for attempt in &self.attempts {
            let before = self.protected_files(&folder);
            let message = self.executor.tries(*attempt, &folder);
            let after = self.protected_files(&folder);
            let at = format!("{}: {attempt:?} returned {message:?}", self.name);
            assert_eq!(differences(&before, &after), [""; 0], "{at}");
            let message = without_varying_parts(&message, folder.outer());
            assert_eq!(complaint(&message), None, "{at}");
            match messages.last_mut() {
                Some((names, last)) if *last == message => {
                    names.push_str(&format!(", {attempt:?}"));
                }
                _ => messages.push((attempt.name(), message)),
            }
        }
        let messages: String = messages
            .iter()
            .map(|(names, message)| format!("{names}:\n  {}\n", message.replace('\n', "\n  ")))
            .collect();
        format!("# {}\n{messages}", self.name)
    }

    fn protected_files(&self, folder: &Folder) -> Tree {
        let mut all = tree(folder.outer());
        for name in LOCKS.iter().chain(&self.may_change) {
            all.remove(&folder.path(name));
        }
        all
    }
}

impl Executor {
    fn tries(&self, attempt: Attempt, folder: &Folder) -> String {
        match self {
            Self::OwnProcess => attempt.message_in_time(folder.project_dir()),
            Self::User { forbid, limits } => {
                let user = OrdinaryUser::new();
                folder.open_up();
                forbid(folder);
                let message = user.tries(attempt, folder.project_dir(), *limits);
                // The unchanged files are compared, whichever user runs this test.
                folder.open_up();
                message
            }
        }
    }
}

/// Removes the parts that differ in each run of the test.
fn without_varying_parts(message: &str, outer: &Path) -> String {
    let process = format!("process {}", std::process::id());
    message
        .replace(&format!("{}/project", outer.display()), "PROJECT")
        .replace(&process, "process PID")
}

/// Returns the flaw of an error message, as far as a program can detect it.
fn complaint(message: &str) -> Option<&'static str> {
    let sentences: Vec<&str> = message.split("\n  because: ").collect();
    let names_the_place = ["PROJECT", "DL-", "here"]
        .iter()
        .any(|place| message.contains(place));
    if message == "nothing" {
        None
    } else if !names_the_place {
        Some("it does not say where")
    } else if !message.contains("; ") {
        Some("it does not say what to do")
    } else if sentences.iter().any(|sentence| sentence.ends_with('.')) {
        Some("a sentence ends with a full stop")
    } else if message.starts_with(char::is_uppercase) && !message.starts_with("PROJECT") {
        Some("it starts with a capital")
    } else if sentences.windows(2).any(|pair| pair[0].contains(pair[1])) {
        Some("a sentence repeats its cause")
    } else {
        None
    }
}
