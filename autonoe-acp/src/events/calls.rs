//! The calls of a session, by their ids.

use std::collections::HashMap;

use crate::wire::CallNews;

/// The calls of a session, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// What is known of each call, and whether its end was told.
    known: HashMap<String, Known>,
    /// The order in which they began.
    order: Vec<String>,
}

#[derive(Debug)]
struct Known {
    news: CallNews,
    is_over: bool,
}

/// What news of a call mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mention {
    /// It was never heard of.
    First,
    /// It is under way.
    Again,
    /// Its end was told already.
    TooLate,
}

impl Calls {
    /// Takes note of what is told of a call; what it does not tell again stays as it was.
    pub(crate) fn mention(&mut self, news: &CallNews) -> (Mention, CallNews) {
        let Some(known) = self.known.get_mut(&news.id) else {
            let known = Known {
                news: news.clone(),
                is_over: false,
            };
            self.known.insert(news.id.clone(), known);
            self.order.push(news.id.clone());
            return (Mention::First, news.clone());
        };
        let all = &mut known.news;
        all.status = news.status.or(all.status);
        for (field, told) in [(&mut all.title, &news.title), (&mut all.kind, &news.kind)] {
            if told.is_some() {
                field.clone_from(told);
            }
        }
        for (field, told) in [
            (&mut all.input, &news.input),
            (&mut all.output, &news.output),
        ] {
            if told.is_some() {
                field.clone_from(told);
            }
        }
        for (field, told) in [(&mut all.paths, &news.paths), (&mut all.texts, &news.texts)] {
            if !told.is_empty() {
                field.clone_from(told);
            }
        }
        all.is_mcp |= news.is_mcp;
        let mention = match known.is_over {
            true => Mention::TooLate,
            false => Mention::Again,
        };
        (mention, known.news.clone())
    }

    /// The end of a call was told; `false` if it was told before, or nobody heard of it.
    pub(crate) fn end(&mut self, id: &str) -> bool {
        match self.known.get_mut(id) {
            Some(known) if !known.is_over => {
                known.is_over = true;
                true
            }
            _ => false,
        }
    }

    /// Tells whether a call is under way.
    pub(crate) fn any_open(&self) -> bool {
        self.known.values().any(|known| !known.is_over)
    }

    /// Returns the calls whose end was not told, in order.
    pub(crate) fn open(&self) -> Vec<String> {
        let is_open = |id: &&String| self.known.get(*id).is_some_and(|known| !known.is_over);
        self.order.iter().filter(is_open).cloned().collect()
    }
}
