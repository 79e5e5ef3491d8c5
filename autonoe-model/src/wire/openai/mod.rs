//! Code shared by both protocols of OpenAI.

mod api_error;
mod decode;
mod encode;
#[cfg(test)]
pub(super) mod testing;

pub(super) use api_error::{ApiError, refusal_error};
pub(super) use decode::{Counts, Frame};
pub(super) use encode::{
    FileContent, effort, file_content, parameters, read_arguments, result_text, write_arguments,
};

/// Returns the header for the key.
pub(super) fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}
