//! What is wanted of agents that their backend cannot give.

use autonoe_core::{BackendSpec, Sandbox, SandboxSwitch, ThinkingBudget};

use super::BackendChoice;
use super::backend_choice::fields_of;
use crate::error::CliError;

/// What the command line wants of agents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) model: Option<&'a str>,
    pub(crate) plan_model: Option<&'a str>,
    pub(crate) thinking: Option<ThinkingBudget>,
    pub(crate) sandbox: SandboxSwitch,
}

/// Refuses what the backend cannot give, before anything begins.
pub(super) fn check(choice: &BackendChoice, wanted: Wanted<'_>) -> Result<(), CliError> {
    let BackendChoice::Spec(spec) = choice else {
        return Ok(());
    };
    check_sandbox(choice.tag(), &**spec, wanted.sandbox)?;
    let Some((option, hint)) = refused_option(choice.tag(), &**spec, wanted) else {
        return Ok(());
    };
    let message = format!("{} cannot be told {option}", choice.tag());
    Err(CliError::usage(message).with_hint(hint))
}

/// Refuses to run an agent without a sandbox that does not ask about every call.
fn check_sandbox(tag: &str, spec: &dyn BackendSpec, switch: SandboxSwitch) -> Result<(), CliError> {
    if spec.outer_sandbox().is_none() || switch.sandbox() == Sandbox::Required {
        return Ok(());
    }
    Err(CliError::failure(no_sandbox_for(tag)).with_hint(NO_SANDBOX_HINT))
}

/// Says why a backend is not run without a sandbox.
pub(crate) fn no_sandbox_for(tag: &str) -> String {
    format!(
        "{tag} does not ask about every tool call, so that only a sandbox around it keeps what the \
         policy says; it does not run without"
    )
}

/// What to do about it.
pub(crate) const NO_SANDBOX_HINT: &str =
    "leave --no-sandbox and AUTONOE_NO_SANDBOX out, or use claude or model:PROVIDER/MODEL";

/// Returns an option that the backend has no way to follow, and what to do about it.
fn refused_option(
    tag: &str,
    spec: &dyn BackendSpec,
    wanted: Wanted<'_>,
) -> Option<(&'static str, &'static str)> {
    let names_model = wanted.model.or(wanted.plan_model).is_some();
    let is_told_models = tag != "acp" || fields_of(spec)["modelArgument"].is_string();
    match tag {
        "gemini" | "acp" if wanted.thinking.is_some() => Some((
            "how much to think",
            "leave --thinking out: how much it thinks is its own choice",
        )),
        "acp" if names_model && !is_told_models => Some((
            "a model",
            "say in its JSON with which argument: {\"type\": \"acp\", .., \"modelArgument\": \"--model\"}",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_backend_cannot_give_is_refused_with_a_way_out() {
        let plain = Wanted::default();
        let model = Wanted {
            model: Some("m"),
            ..plain
        };
        let planning = Wanted {
            plan_model: Some("m"),
            ..plain
        };
        let thinking = Wanted {
            thinking: Some(ThinkingBudget::default()),
            ..plain
        };
        let open = Wanted {
            sandbox: SandboxSwitch::resolve(Some(Sandbox::Off), None),
            ..plain
        };
        let with_argument = r#"{"type": "acp", "command": "x", "modelArgument": "-m"}"#;
        for (backend, wanted, refused) in [
            ("claude", thinking, None),
            ("claude", open, None),
            ("model:openai/gpt-5", open, None),
            ("scripted:x", open, None),
            ("codex", plain, None),
            ("codex", model, None),
            ("codex", thinking, None),
            ("acp:x", thinking, Some("how much to think")),
            ("codex", open, Some("does not ask about every tool call")),
            ("gemini", planning, None),
            ("gemini", thinking, Some("how much to think")),
            ("gemini", open, Some("does not ask about every tool call")),
            ("acp:x", plain, None),
            ("acp:x", model, Some("a model")),
            ("acp:x", planning, Some("a model")),
            (with_argument, model, None),
            ("acp:x", open, Some("does not ask about every tool call")),
        ] {
            let choice: BackendChoice = backend.parse().expect("a backend");

            let checked = check(&choice, wanted);

            let told = checked.map_err(|error| (error.to_string(), error.hint().is_some()));
            match refused {
                None => assert_eq!(told, Ok(()), "{backend}"),
                Some(words) => {
                    let (message, has_hint) = told.expect_err(backend);
                    assert!(message.contains(words) && has_hint, "{backend}: {message}");
                }
            }
        }
    }
}
