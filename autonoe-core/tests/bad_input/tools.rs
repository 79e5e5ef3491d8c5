//! Defects in an agent's tool calls.

use crate::bad_input::attempt::Attempt::{CreateExisting, CreateTwice};
use crate::bad_input::case::Case;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("an id stands twice in one batch", [CreateTwice], |_| {}),
        Case::new("an id of a batch is taken", [CreateExisting], |_| {}),
    ]
}
