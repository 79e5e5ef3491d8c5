//! Parses tool names and working directories from the call ids and texts of Gemini CLI.

use crate::wire::CallUpdate;

/// Returns the tool in an id of Gemini CLI: `<tool>__<id of the model's service>`, or
/// `<tool>__<tool>_<time>_<number>`. Tool names may contain two underscores as well.
pub(super) fn tool_name(id: &str) -> Option<&str> {
    let splits = || {
        let marks = id.match_indices("__").map(|(at, _)| at);
        marks.map(|at| (&id[..at], &id[at + 2..]))
    };
    let is_repeated = |(name, rest): &(&str, &str)| {
        rest.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('_'))
    };
    let mut repeated = splits().filter(is_repeated);
    let mut any = splits();
    match (repeated.next(), repeated.next(), any.next(), any.next()) {
        (Some((name, _)), None, ..) | (None, None, Some((name, _)), None) => Some(name),
        _ => None,
    }
}

/// Returns the folder that a command of Gemini CLI runs in, if it is not the project's.
///
/// The text has the form `[in <folder>]`, which `(<description>)` and `[background]` may follow. A
/// model chooses the folder and the description.
pub(super) fn working_directory(call_update: &CallUpdate) -> Result<Option<&str>, &'static str> {
    let first_text = call_update.texts.iter().flatten().next();
    let Some(rest) = first_text.and_then(|text| text.strip_prefix("[in ")) else {
        return Ok(None);
    };
    let rest = rest.strip_suffix(" [background]").unwrap_or(rest);
    let mut ends = rest
        .match_indices(']')
        .map(|(at, _)| rest.split_at(at))
        .filter(|(_, tail)| *tail == "]" || tail.starts_with("] ("));
    match (ends.next(), ends.next()) {
        (Some((folder, _)), None) => Ok(Some(folder)),
        _ => Err("the request does not make clear in which directory the command would run"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_only_where_it_is_certain() {
        for (id, name) in [
            ("mcp_a_read__mcp_a_read_179_0", Some("mcp_a_read")),
            ("mcp_a_read__fc-12", Some("mcp_a_read")),
            (
                "mcp_a_read__write__mcp_a_read__write_179_0",
                Some("mcp_a_read__write"),
            ),
            ("mcp_a_read__write__fc-12", None),
            ("no-name", None),
        ] {
            assert_eq!(tool_name(id), name, "{id}");
        }
    }
}
