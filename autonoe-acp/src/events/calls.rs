//! [`Calls`], the tool calls of a session.

use std::collections::{HashMap, HashSet};

use autonoe_core::tool::ToolStatus;

use crate::wire::CallUpdate;

/// The tool calls of a session, by their ids. An id that reappears in another turn is another call.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The running calls, in the order of their start.
    open: Vec<Open>,
    /// The finished calls of this turn, with their status.
    finished: HashMap<String, ToolStatus>,
    /// The calls of earlier turns.
    earlier: HashSet<String>,
}

#[derive(Debug)]
struct Open {
    call_update: CallUpdate,
    is_reported: bool,
}

impl Calls {
    /// Marks all calls as those of an earlier turn. It is called when a prompt is sent.
    pub(crate) fn start_turn(&mut self) {
        let open = self.open.drain(..).map(|call| call.call_update.id);
        self.earlier.extend(open);
        self.earlier.extend(self.finished.drain().map(|(id, _)| id));
    }

    /// Records an update of a call, and returns everything known about the call: fields that the
    /// update leaves out keep their values. `None` if the end of the call was reported already.
    pub(crate) fn update(&mut self, call_update: &CallUpdate) -> Option<CallUpdate> {
        if let Some(known) = self.find(&call_update.id) {
            merge(&mut known.call_update, call_update);
            return Some(known.call_update.clone());
        }
        let is_from_earlier_turn = !call_update.is_start && self.earlier.contains(&call_update.id);
        if is_from_earlier_turn || self.finished.contains_key(&call_update.id) {
            return None;
        }
        self.open.push(Open {
            call_update: call_update.clone(),
            is_reported: false,
        });
        Some(call_update.clone())
    }

    /// Marks a call as reported to observers; `false` if it was before.
    pub(crate) fn mark_reported(&mut self, id: &str) -> bool {
        let unseen = self.find(id).filter(|call| !call.is_reported);
        unseen.map(|call| call.is_reported = true).is_some()
    }

    /// Returns the running calls that were not reported to observers yet, in order.
    pub(crate) fn unreported(&self) -> Vec<CallUpdate> {
        let unseen = self.open.iter().filter(|call| !call.is_reported);
        unseen.map(|call| call.call_update.clone()).collect()
    }

    /// Records the end of a call; `false` if its end was recorded before, or the call is unknown.
    pub(crate) fn end(&mut self, id: &str, status: ToolStatus) -> bool {
        let Some(at) = self.open.iter().position(|call| call.call_update.id == id) else {
            return false;
        };
        let call = self.open.remove(at);
        self.finished.insert(call.call_update.id, status);
        true
    }

    /// Returns the status of a finished call of this turn.
    pub(crate) fn status(&self, id: &str) -> Option<ToolStatus> {
        self.finished.get(id).copied()
    }

    /// Returns whether a call is running.
    pub(crate) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the calls whose end was not recorded, in order.
    pub(crate) fn open(&self) -> Vec<String> {
        self.open
            .iter()
            .map(|call| call.call_update.id.clone())
            .collect()
    }

    fn find(&mut self, id: &str) -> Option<&mut Open> {
        self.open.iter_mut().find(|call| call.call_update.id == id)
    }
}

fn merge(all: &mut CallUpdate, call_update: &CallUpdate) {
    let CallUpdate {
        id: _,
        title,
        kind,
        status,
        input,
        paths,
        texts,
        output,
        is_mcp,
        is_start: _,
    } = call_update.clone();
    all.title = title.or(all.title.take());
    all.kind = kind.or(all.kind.take());
    all.status = status.or(all.status);
    all.input = input.or(all.input.take());
    all.output = output.or(all.output.take());
    all.texts = texts.or(all.texts.take());
    all.is_mcp |= is_mcp;
    // Every path that the agent ever named must be allowed.
    for path in paths {
        if !all.paths.contains(&path) {
            all.paths.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call_update(begins: bool) -> CallUpdate {
        CallUpdate {
            id: "c".to_owned(),
            is_start: begins,
            ..CallUpdate::default()
        }
    }

    #[test]
    fn an_id_means_one_call_in_a_turn_and_another_in_the_next() {
        let mut calls = Calls::default();
        let first = CallUpdate {
            title: Some("old".to_owned()),
            ..call_update(true)
        };
        calls.update(&first);
        assert!(calls.end("c", ToolStatus::Ok));
        assert_eq!(calls.update(&call_update(true)), None);

        calls.start_turn();

        assert_eq!(calls.update(&call_update(false)), None);
        assert_eq!(calls.update(&call_update(true)), Some(call_update(true)));
    }

    #[test]
    fn all_reported_paths_are_in_the_input() {
        let mut calls = Calls::default();
        let touching = |path: &str| CallUpdate {
            paths: vec![path.to_owned()],
            ..call_update(true)
        };
        calls.update(&touching("/etc/passwd"));

        let known = calls.update(&touching("/p/a"));

        let paths = known.expect("it is under way").paths;
        assert_eq!(paths, ["/etc/passwd", "/p/a"]);
    }
}
