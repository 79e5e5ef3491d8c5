//! What the two protocols of OpenAI have in common.

mod decode;
mod encode;
mod fault;
#[cfg(test)]
pub(super) mod testing;

pub(super) use decode::{Counts, Frame, broke_off, nonsense};
pub(super) use encode::{
    Shown, effort, parameters, read_arguments, result_text, shown, write_arguments,
};
pub(super) use fault::{Fault, refused};

/// Says how the key is sent.
pub(super) fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}
