//! Validation of values in the specs of backends.

use autonoe_core::spec::SpecError;

/// Refuses a blank model in the spec with the tag `tag`.
///
/// # Errors
///
/// The name is blank.
pub fn check_model(tag: &str, model: Option<&str>) -> Result<(), SpecError> {
    match model {
        Some(model) if model.trim().is_empty() => Err(SpecError::new(
            tag,
            "model is blank; name one, or leave it out to use the program's default",
        )),
        _ => Ok(()),
    }
}

/// Refuses zero as the limit `field` of the spec with the tag `tag`.
///
/// # Errors
///
/// The limit is zero.
pub fn check_limit<N: Default + PartialEq>(
    tag: &str,
    field: &str,
    limit: Option<N>,
) -> Result<(), SpecError> {
    match limit {
        Some(limit) if limit == N::default() => Err(SpecError::new(
            tag,
            format!("{field} is 0, so nothing could run; give more, or leave it out"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_model_and_a_limit_of_nothing_are_refused() {
        for (model, fits) in [(None, true), (Some("opus"), true), (Some(" "), false)] {
            assert_eq!(check_model("claude", model).is_ok(), fits, "{model:?}");
        }
        for (limit, fits) in [(None, true), (Some(1), true), (Some(0), false)] {
            assert_eq!(check_limit("claude", "maxTurns", limit).is_ok(), fits);
        }
        assert_eq!(
            check_limit("claude", "maxTurns", Some(0))
                .expect_err("zero")
                .reason(),
            "maxTurns is 0, so nothing could run; give more, or leave it out",
        );
    }
}
