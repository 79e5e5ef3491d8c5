//! What a person says of the sandbox.

use autonoe_core::ProbeFinding;

/// What findings about the sandbox are called.
pub(super) const NAME: &str = "sandbox";

/// Adds to a problem with the sandbox that there is a way without.
pub(super) fn in_container(mut finding: ProbeFinding) -> ProbeFinding {
    if finding.name == NAME && finding.is_problem() {
        let remedy = finding.remedy.unwrap_or_else(|| "mend it".to_owned());
        finding.remedy = Some(format!("{remedy}, or use --no-sandbox in a container"));
    }
    finding
}

/// Tells of a sandbox that a person has switched off.
pub(super) fn switched_off() -> ProbeFinding {
    let remedy = "only do this where the whole machine is a sandbox, such as a container";
    ProbeFinding::warning(NAME, "it is switched off", remedy)
}

/// Tells of a wish in the environment that was not understood.
pub(super) fn misread(found: String) -> ProbeFinding {
    ProbeFinding::explained_warning(NAME, found)
}
