//! The variables that every prompt has.

/// The names of the variables that a flow sets itself, with what they hold.
///
/// A retry sends the text of the first try, so that they have the values of that.
///
/// No parameter, variable or output may have one of these names.
pub const CONTEXT_VARIABLES: &[(&str, &str)] = &[
    ("flow", "the name of the flow"),
    ("step", "the id of the step"),
    ("iteration", "how many iterations there were, with this one"),
    ("visit", "how often the step was visited, with this time"),
    (
        "retry",
        "how often the step was tried again in this visit; in prompts of checks",
    ),
    (
        "previous_response",
        "the text of the answer before; blank if there is none",
    ),
    ("response", "the text of the answer that a check judges"),
    ("failure", "why the step that is escalated failed"),
];

/// Tells whether every prompt has a variable of this name.
pub(crate) fn is_context_variable(name: &str) -> bool {
    CONTEXT_VARIABLES.iter().any(|(known, _)| *known == name)
}
