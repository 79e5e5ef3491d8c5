//! What a workflow was told and did, which gives its course again.

use jiff::Timestamp;

use super::super::super::super::begin::SessionsBegin;
use super::super::super::{Came, SessionsCourse, Step};

/// A course with what led to it.
#[derive(Debug)]
pub(super) struct History {
    begin: SessionsBegin,
    entries: Vec<(Timestamp, Entry)>,
    pub(super) course: SessionsCourse,
}

#[derive(Debug)]
enum Entry {
    Came(Box<Came>),
    Next(Step),
}

impl History {
    pub(super) fn of(begin: SessionsBegin) -> Self {
        Self {
            entries: Vec::new(),
            course: SessionsCourse::of(begin.clone()),
            begin,
        }
    }

    /// Begins anew, with what the server was given for it.
    pub(super) fn anew(&self) -> Self {
        let begin = serde_json::to_string(&self.course.anew()).expect("it is JSON");
        Self::of(serde_json::from_str(&begin).expect("it is the same"))
    }

    pub(super) fn came(&mut self, at: Timestamp, came: Came) {
        self.entries.push((at, Entry::Came(Box::new(came.clone()))));
        self.course.came(at, came);
    }

    pub(super) fn next(&mut self, at: Timestamp) -> Step {
        let step = self.course.next(at);
        self.entries.push((at, Entry::Next(step.clone())));
        step
    }

    /// Forgets the course and makes it again, as the next worker does. Tells whether it is the same.
    pub(super) fn replay(&mut self) -> bool {
        let mut course = SessionsCourse::of(self.begin.clone());
        let mut is_same = true;
        for (at, entry) in &self.entries {
            match entry {
                Entry::Came(came) => course.came(*at, Came::clone(came)),
                Entry::Next(step) => is_same &= course.next(*at) == *step,
            }
        }
        is_same &= course == self.course;
        self.course = course;
        is_same
    }
}
