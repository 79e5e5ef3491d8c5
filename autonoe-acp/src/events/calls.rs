//! The calls of a session, by their ids.

use std::collections::{HashMap, HashSet};

use autonoe_core::ToolStatus;

use crate::wire::CallNews;

/// The calls of a session, by their ids. An id that comes again in another turn is another call.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// The calls that are under way, in the order in which they began.
    open: Vec<Open>,
    /// The calls of this turn that are over, and how they ended.
    over: HashMap<String, ToolStatus>,
    /// The calls of earlier turns.
    earlier: HashSet<String>,
}

#[derive(Debug)]
struct Open {
    news: CallNews,
    is_shown: bool,
}

impl Calls {
    /// A prompt is sent: what was before is over.
    pub(crate) fn prompted(&mut self) {
        let open = self.open.drain(..).map(|call| call.news.id);
        self.earlier.extend(open);
        self.earlier.extend(self.over.drain().map(|(id, _)| id));
    }

    /// Takes note of what is told of a call, and returns all that is known of it: what it does not
    /// tell again stays as it was. `None` if the end of the call was told already.
    pub(crate) fn mention(&mut self, news: &CallNews) -> Option<CallNews> {
        if let Some(known) = self.find(&news.id) {
            merge(&mut known.news, news);
            return Some(known.news.clone());
        }
        let is_of_earlier = !news.begins && self.earlier.contains(&news.id);
        if is_of_earlier || self.over.contains_key(&news.id) {
            return None;
        }
        self.open.push(Open {
            news: news.clone(),
            is_shown: false,
        });
        Some(news.clone())
    }

    /// Takes note that a call is shown; `false` if it was before.
    pub(crate) fn show(&mut self, id: &str) -> bool {
        let unseen = self.find(id).filter(|call| !call.is_shown);
        unseen.map(|call| call.is_shown = true).is_some()
    }

    /// Returns the calls that were not shown yet, in order.
    pub(crate) fn unseen(&self) -> Vec<CallNews> {
        let unseen = self.open.iter().filter(|call| !call.is_shown);
        unseen.map(|call| call.news.clone()).collect()
    }

    /// The end of a call was told; `false` if it was told before, or nobody heard of it.
    pub(crate) fn end(&mut self, id: &str, status: ToolStatus) -> bool {
        let Some(at) = self.open.iter().position(|call| call.news.id == id) else {
            return false;
        };
        let call = self.open.remove(at);
        self.over.insert(call.news.id, status);
        true
    }

    /// Returns how a call of this turn ended, if it did.
    pub(crate) fn how_it_ended(&self, id: &str) -> Option<ToolStatus> {
        self.over.get(id).copied()
    }

    /// Tells whether a call is under way.
    pub(crate) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns the calls whose end was not told, in order.
    pub(crate) fn open(&self) -> Vec<String> {
        self.open.iter().map(|call| call.news.id.clone()).collect()
    }

    fn find(&mut self, id: &str) -> Option<&mut Open> {
        self.open.iter_mut().find(|call| call.news.id == id)
    }
}

fn merge(all: &mut CallNews, news: &CallNews) {
    let CallNews {
        id: _,
        title,
        kind,
        status,
        input,
        paths,
        texts,
        output,
        is_mcp,
        begins: _,
    } = news.clone();
    all.title = title.or(all.title.take());
    all.kind = kind.or(all.kind.take());
    all.status = status.or(all.status);
    all.input = input.or(all.input.take());
    all.output = output.or(all.output.take());
    all.texts = texts.or(all.texts.take());
    all.is_mcp |= is_mcp;
    // Whatever was said to be touched must be allowed.
    for path in paths {
        if !all.paths.contains(&path) {
            all.paths.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(begins: bool) -> CallNews {
        CallNews {
            id: "c".to_owned(),
            begins,
            ..CallNews::default()
        }
    }

    #[test]
    fn an_id_means_one_call_in_a_turn_and_another_in_the_next() {
        let mut calls = Calls::default();
        let first = CallNews {
            title: Some("old".to_owned()),
            ..news(true)
        };
        calls.mention(&first);
        assert!(calls.end("c", ToolStatus::Ok));
        assert_eq!(calls.mention(&news(true)), None);

        calls.prompted();

        assert_eq!(calls.mention(&news(false)), None);
        assert_eq!(calls.mention(&news(true)), Some(news(true)));
    }

    #[test]
    fn all_files_count_that_were_ever_told() {
        let mut calls = Calls::default();
        let touching = |path: &str| CallNews {
            paths: vec![path.to_owned()],
            ..news(true)
        };
        calls.mention(&touching("/etc/passwd"));

        let known = calls.mention(&touching("/p/a"));

        let paths = known.expect("it is under way").paths;
        assert_eq!(paths, ["/etc/passwd", "/p/a"]);
    }
}
