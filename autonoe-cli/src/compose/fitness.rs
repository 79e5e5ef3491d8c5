//! Refusal of options and configurations that the chosen backend does not support.

use autonoe_core::{
    AgentError, BackendSpec, EffectiveConfig, Sandbox, SandboxSwitch, SessionField, ThinkingBudget,
};

use super::BackendChoice;
use crate::error::CliError;

/// What the command line wants of agents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) model: Option<&'a str>,
    pub(crate) plan_model: Option<&'a str>,
    pub(crate) thinking: Option<ThinkingBudget>,
    pub(crate) sandbox: SandboxSwitch,
}

impl Wanted<'_> {
    /// Returns the fields of a session that the options set.
    fn session_fields(&self) -> impl Iterator<Item = SessionField> {
        let names_model = self.model.or(self.plan_model).is_some();
        let model = names_model.then_some(SessionField::Model);
        let thinking = self.thinking.map(|_| SessionField::Thinking);
        model.into_iter().chain(thinking)
    }
}

/// Refuses options that the backend does not support, before anything begins.
pub(super) fn check(choice: &BackendChoice, wanted: Wanted<'_>) -> Result<(), CliError> {
    let BackendChoice::Spec(spec) = choice else {
        return Ok(());
    };
    check_sandbox(choice.tag(), &**spec, wanted.sandbox)?;
    unclaimed(&**spec, wanted.session_fields())
        .map_or(Ok(()), |error| Err(CliError::from(&error).into_usage()))
}

/// Refuses a configuration that the backend does not support.
pub(super) fn check_config(
    choice: &BackendChoice,
    config: &EffectiveConfig,
) -> Result<(), CliError> {
    let BackendChoice::Spec(spec) = choice else {
        return Ok(());
    };
    unclaimed(&**spec, config.session_fields()).map_or(Ok(()), |error| Err(CliError::from(&error)))
}

/// Returns the refusal of the first of `fields` that the backend does not claim. It is the error that
/// a run reports before its first session.
pub(crate) fn unclaimed(
    spec: &dyn BackendSpec,
    fields: impl IntoIterator<Item = SessionField>,
) -> Option<AgentError> {
    spec.claims()?.require(fields).err()
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use autonoe_core::{AgentConfig, Mode};

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
            ("acp:x", thinking, Some("`thinking`")),
            ("codex", open, Some("does not ask about every tool call")),
            ("gemini", planning, None),
            ("gemini", thinking, Some("`thinking`")),
            ("gemini", open, Some("does not ask about every tool call")),
            ("acp:x", plain, None),
            ("acp:x", model, Some("`model`")),
            ("acp:x", planning, Some("`model`")),
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
    #[test]
    fn a_configuration_is_refused_with_the_sentence_and_the_remedy_of_the_backend() {
        let memory_off = AgentConfig::parse(r#"{"projectMemory": false}"#, Path::new("agent.json"))
            .expect("valid");
        let config = |config| {
            EffectiveConfig::merge(config, Mode::Run, SandboxSwitch::default()).expect("valid")
        };
        let reads_memory = r#"{"type": "claude", "settingSources": "project"}"#;
        for (backend, config, refused) in [
            ("claude", config(Some(memory_off.clone())), None),
            ("codex", config(Some(memory_off.clone())), None),
            ("gemini", config(Some(memory_off.clone())), None),
            (reads_memory, config(None), None),
            (
                reads_memory,
                config(Some(memory_off.clone())),
                Some("claude"),
            ),
            ("acp:x", config(Some(memory_off)), Some("x")),
        ] {
            let choice: BackendChoice = backend.parse().expect("a backend");
            let BackendChoice::Spec(spec) = &choice else {
                panic!("{backend} has a spec");
            };
            let claims = spec.claims().expect("it is known");

            let checked = check_config(&choice, &config);

            let Some(name) = refused else {
                assert!(checked.is_ok(), "{backend}: {checked:?}");
                continue;
            };
            let error = claims
                .require([SessionField::ProjectMemory])
                .expect_err(backend);
            let refusal = checked.expect_err(backend);
            assert_eq!(refusal.to_string(), error.to_string());
            assert_eq!(refusal.hint(), error.remedy());
            let sentence = format!("{name} does not support the session field `project_memory`: ");
            assert!(refusal.to_string().starts_with(&sentence), "{refusal}");
        }
    }
}
