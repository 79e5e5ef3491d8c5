//! Requests of a program, as types.

use std::fmt;

use super::{ReceivedPrompt, RequestLog, ServerAnswer};

/// A request of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// A request for the next message of the model.
    Messages(ReceivedPrompt),
    /// A request for the number of tokens of such a request.
    CountTokens(ReceivedPrompt),
    /// Any other request, with its body as text.
    Other(String),
}

impl Request {
    /// Returns the request for a message, or `None` if it is another request.
    pub fn messages(&self) -> Option<&ReceivedPrompt> {
        match self {
            Self::Messages(prompt) => Some(prompt),
            _ => None,
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Messages(prompt) => prompt.fmt(f),
            Self::CountTokens(prompt) => write!(f, "count the tokens of {prompt}"),
            Self::Other(body) => write!(f, "{} bytes", body.len()),
        }
    }
}

impl RequestLog<Request> {
    /// Returns the requests that took a turn of the script, or should have taken one.
    pub fn main_requests(&self) -> Vec<ReceivedPrompt> {
        let exchanges = self.exchanges();
        let main = exchanges.iter().filter(|exchange| {
            matches!(
                exchange.answer,
                ServerAnswer::Turn(_) | ServerAnswer::Unanswered(_)
            )
        });
        main.filter_map(|exchange| exchange.request.messages().cloned())
            .collect()
    }
}
