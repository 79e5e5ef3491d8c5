//! Findings about the sandbox, for `autonoe doctor`.

use autonoe_core::agent::ProbeFinding;

/// Name of findings about the sandbox.
pub(super) const NAME: &str = "sandbox";

/// Adds `--no-sandbox` to the remedy of a problem with the sandbox.
pub(super) fn add_no_sandbox_hint(mut finding: ProbeFinding) -> ProbeFinding {
    if finding.name == NAME && finding.is_problem() {
        let remedy = finding
            .remedy
            .unwrap_or_else(|| "repair the sandbox".to_owned());
        finding.remedy = Some(format!("{remedy}, or use --no-sandbox in a container"));
    }
    finding
}

/// Reports that the operator switched the sandbox off.
pub(super) fn switched_off() -> ProbeFinding {
    let remedy = "use this only on a machine that is itself a sandbox, such as a container";
    ProbeFinding::warning(NAME, "switched off", remedy)
}

/// Reports an environment variable whose value is not recognised.
pub(super) fn unrecognised_value(found: String) -> ProbeFinding {
    ProbeFinding::explained_warning(NAME, found)
}
