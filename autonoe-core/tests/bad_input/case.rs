//! One defect, and what is told about it.

use std::path::Path;

use crate::bad_input::attempt::Attempt;
use crate::bad_input::folder::Folder;
use crate::bad_input::other_process::{Limits, OrdinaryUser};
use crate::bad_input::tree::{Tree, differences, tree};

/// Files that say who holds a lock. They are made and written by whoever wants one, also in vain.
const LOCKS: [&str; 2] = [".autonoe/run.lock", ".autonoe/status.lock"];

type Change = Box<dyn Fn(&Folder)>;

/// A defect of a project, and who is to stumble over it.
pub(crate) struct Case {
    name: String,
    attempts: Vec<Attempt>,
    deliverables: usize,
    spoil: Change,
    who: Who,
    may_change: Option<&'static str>,
}

enum Who {
    Ourselves,
    /// An ordinary user, once the permissions were changed.
    User {
        forbid: Change,
        limits: Limits,
    },
}

impl Case {
    pub(crate) fn new(
        name: impl Into<String>,
        attempts: impl Into<Vec<Attempt>>,
        spoil: impl Fn(&Folder) + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            attempts: attempts.into(),
            deliverables: 3,
            spoil: Box::new(spoil),
            who: Who::Ourselves,
            may_change: None,
        }
    }

    /// Lets an ordinary user try, after `forbid` has taken permissions away.
    pub(crate) fn forbidding(mut self, forbid: impl Fn(&Folder) + 'static) -> Self {
        self.who = Who::User {
            forbid: Box::new(forbid),
            limits: Limits::Nothing,
        };
        self
    }

    /// Lets a process with these limits try.
    pub(crate) fn within(mut self, limits: Limits) -> Self {
        self.who = Who::User {
            forbid: Box::new(|_| {}),
            limits,
        };
        self
    }

    /// Makes the ledger larger than the usual three deliverables.
    pub(crate) fn with_deliverables(mut self, deliverables: usize) -> Self {
        self.deliverables = deliverables;
        self
    }

    /// Lets one file change, because the documentation says that it does.
    pub(crate) fn but_may_change(mut self, name: &'static str) -> Self {
        self.may_change = Some(name);
        self
    }

    /// Makes the defect, tries everything, and returns what was told. Fails if a file has changed.
    pub(crate) fn try_out(&self) -> String {
        let folder = Folder::new(self.deliverables);
        (self.spoil)(&folder);
        let mut told: Vec<(String, String)> = Vec::new();
        for attempt in &self.attempts {
            let before = self.what_must_stay(&folder);
            let said = self.who.tries(*attempt, &folder);
            let after = self.what_must_stay(&folder);
            let at = format!("{}: {attempt:?} said {said:?}", self.name);
            assert_eq!(differences(&before, &after), [""; 0], "{at}");
            let said = without_chance(&said, folder.outer());
            assert_eq!(complaint(&said), None, "{at}");
            match told.last_mut() {
                Some((who, last)) if *last == said => who.push_str(&format!(", {attempt:?}")),
                _ => told.push((attempt.name(), said)),
            }
        }
        let told: String = told
            .iter()
            .map(|(who, said)| format!("{who}:\n  {}\n", said.replace('\n', "\n  ")))
            .collect();
        format!("# {}\n{told}", self.name)
    }

    fn what_must_stay(&self, folder: &Folder) -> Tree {
        let mut all = tree(folder.outer());
        for name in LOCKS.iter().chain(&self.may_change) {
            all.remove(&folder.path(name));
        }
        all
    }
}

impl Who {
    fn tries(&self, attempt: Attempt, folder: &Folder) -> String {
        match self {
            Self::Ourselves => attempt.in_time(folder.project_dir()),
            Self::User { forbid, limits } => {
                let user = OrdinaryUser::new();
                folder.open_up();
                forbid(folder);
                let said = user.tries(attempt, folder.project_dir(), *limits);
                // What must stay is looked at, whoever runs this test.
                folder.open_up();
                said
            }
        }
    }
}

/// Leaves out what is different in each run of the test.
fn without_chance(said: &str, outer: &Path) -> String {
    let process = format!("process {}", std::process::id());
    said.replace(&format!("{}/project", outer.display()), "PROJECT")
        .replace(&process, "process PID")
}

/// Returns what is wrong with how an error is told, as far as a program can see it.
fn complaint(said: &str) -> Option<&'static str> {
    let sentences: Vec<&str> = said.split("\n  because: ").collect();
    let names_the_place = ["PROJECT", "DL-", "here"]
        .iter()
        .any(|place| said.contains(place));
    if said == "nothing" {
        None
    } else if !names_the_place {
        Some("it does not say where")
    } else if !said.contains("; ") {
        Some("it does not say what to do")
    } else if sentences.iter().any(|sentence| sentence.ends_with('.')) {
        Some("a sentence ends with a full stop")
    } else if said.starts_with(char::is_uppercase) && !said.starts_with("PROJECT") {
        Some("it starts with a capital")
    } else if sentences.windows(2).any(|pair| pair[0].contains(pair[1])) {
        Some("a sentence repeats its cause")
    } else {
        None
    }
}
