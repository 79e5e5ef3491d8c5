//! What the two protocols of OpenAI have in common.

mod arguments;
mod attachment;
mod effort;
mod fault;
mod frame;
mod parameters;
mod result_text;
#[cfg(test)]
pub(super) mod testing;
mod tokens;

pub(super) use arguments::{read_arguments, write_arguments};
pub(super) use attachment::{Shown, shown};
pub(super) use effort::effort;
pub(super) use fault::{Fault, refused};
pub(super) use frame::{Frame, broke_off, nonsense};
pub(super) use parameters::parameters;
pub(super) use result_text::result_text;
pub(super) use tokens::Counts;

/// Says how the key is sent.
pub(super) fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}
