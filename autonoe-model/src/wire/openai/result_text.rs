//! What became of a call, in words.

use crate::contract::ToolResult;

/// Returns what the model reads of a result. These protocols have no mark for a call that
/// failed, so its words begin with one.
pub(in crate::wire) fn result_text(result: &ToolResult) -> String {
    if result.is_error {
        format!("Error: {}", result.output)
    } else {
        result.output.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_reads_as_one() {
        assert_eq!(result_text(&ToolResult::ok("1", "Read", "text")), "text");
        assert_eq!(
            result_text(&ToolResult::failed("1", "Read", "no such file")),
            "Error: no such file"
        );
    }
}
