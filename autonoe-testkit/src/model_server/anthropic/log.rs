//! What is easy to ask of a log of the Messages API.

use crate::model_server::{Answer, RequestLog};

use super::{MessagesRequest, Request};

impl RequestLog<Request> {
    /// Returns the requests that took a turn of the script, or would have taken one.
    pub fn main_requests(&self) -> Vec<MessagesRequest> {
        let exchanges = self.exchanges();
        let main = exchanges
            .iter()
            .filter(|exchange| matches!(exchange.answer, Answer::Turn(_) | Answer::Unanswered(_)));
        main.filter_map(|exchange| exchange.request.messages().cloned())
            .collect()
    }
}
