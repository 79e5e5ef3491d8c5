//! Checks that the chosen backend supports the options and the configuration.

use autonoe_core::AgentError;
use autonoe_core::agent::{Sandbox, SessionField};
use autonoe_core::project::{EffectiveConfig, SandboxSwitch};
use autonoe_core::spec::BackendSpec;

use crate::error::AppError;
use crate::{AgentOptions, BackendChoice};

/// Rejects options that the backend does not support, before anything starts.
pub(crate) fn check(
    choice: &BackendChoice,
    options: &AgentOptions,
    sandbox: SandboxSwitch,
) -> Result<(), AppError> {
    let BackendChoice::Spec(spec) = choice else {
        return Ok(());
    };
    check_sandbox(choice.tag(), &**spec, sandbox)?;
    unsupported_field(&**spec, options.session_fields())
        .map_or(Ok(()), |error| Err(AppError::from(&error).into_usage()))
}

/// Rejects a configuration that the backend does not support.
pub(crate) fn check_config(
    choice: &BackendChoice,
    config: &EffectiveConfig,
) -> Result<(), AppError> {
    let BackendChoice::Spec(spec) = choice else {
        return Ok(());
    };
    unsupported_field(&**spec, config.session_fields())
        .map_or(Ok(()), |error| Err(AppError::from(&error)))
}

/// Returns the error of the first of `fields` that the backend does not support. A run reports the
/// same error before its first session.
pub fn unsupported_field(
    spec: &dyn BackendSpec,
    fields: impl IntoIterator<Item = SessionField>,
) -> Option<AgentError> {
    spec.claims()?.require(fields).err()
}

/// Rejects to run an agent without a sandbox if it can bypass the gate.
fn check_sandbox(tag: &str, spec: &dyn BackendSpec, switch: SandboxSwitch) -> Result<(), AppError> {
    if spec.outer_sandbox().is_none() || switch.sandbox() == Sandbox::Required {
        return Ok(());
    }
    Err(AppError::failure(no_sandbox_message(tag)).with_hint(NO_SANDBOX_HINT))
}

/// Returns why a backend does not run without a sandbox.
pub fn no_sandbox_message(tag: &str) -> String {
    format!(
        "{tag} can bypass the gate, so it runs only inside a sandbox, and the sandbox is switched \
         off"
    )
}

/// The hint for [`no_sandbox_message`].
pub const NO_SANDBOX_HINT: &str = "remove --no-sandbox and AUTONOE_NO_SANDBOX, or use --backend claude or --backend \
     model:PROVIDER/MODEL";

#[cfg(test)]
mod tests {
    use std::path::Path;

    use autonoe_core::Mode;
    use autonoe_core::agent::ThinkingBudget;
    use autonoe_core::project::AgentConfig;

    use super::*;

    #[test]
    fn unsupported_options_are_rejected_with_a_hint() {
        let plain = &AgentOptions::default();
        let model = &AgentOptions {
            model: Some("m".to_owned()),
            ..plain.clone()
        };
        let planning = &AgentOptions {
            plan_model: Some("m".to_owned()),
            ..plain.clone()
        };
        let thinking = &AgentOptions {
            thinking: Some(ThinkingBudget::default()),
            ..plain.clone()
        };
        let open = &AgentOptions {
            no_sandbox: true,
            ..plain.clone()
        };
        let with_argument = r#"{"type": "acp", "command": "x", "modelArgument": "-m"}"#;
        for (backend, options, refused) in [
            ("claude", thinking, None),
            ("claude", open, None),
            ("model:openai/gpt-5", open, None),
            ("scripted:x", open, None),
            ("codex", plain, None),
            ("codex", model, None),
            ("codex", thinking, None),
            ("acp:x", thinking, Some("`thinking`")),
            ("codex", open, Some("can bypass the gate")),
            ("gemini", planning, None),
            ("gemini", thinking, Some("`thinking`")),
            ("gemini", open, Some("can bypass the gate")),
            ("acp:x", plain, None),
            ("acp:x", model, Some("`model`")),
            ("acp:x", planning, Some("`model`")),
            (with_argument, model, None),
            ("acp:x", open, Some("can bypass the gate")),
        ] {
            let choice: BackendChoice = backend.parse().expect("a backend");

            let off = options.no_sandbox.then_some(Sandbox::Off);
            let checked = check(&choice, options, SandboxSwitch::resolve(off, None));

            let result = checked.map_err(|error| (error.to_string(), error.hint().is_some()));
            match refused {
                None => assert_eq!(result, Ok(()), "{backend}"),
                Some(part) => {
                    let (message, has_hint) = result.expect_err(backend);
                    assert!(message.contains(part) && has_hint, "{backend}: {message}");
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
            let sentence = format!("{name} does not support the setting `project_memory`: ");
            assert!(refusal.to_string().starts_with(&sentence), "{refusal}");
        }
    }
}
