//! Backends in a configuration.

use autonoe_core::Mode;
use autonoe_core::project::{ConfigErrorKind, NamedBackend};
use autonoe_core::tool::plain_schema;
use autonoe_testkit as _;

use crate::config::support::{error, merged, parse};

const SPEC: &str = r#"{"type": "scripted", "sessions": []}"#;

#[test]
fn a_backend_is_named_or_described_and_explained_with_its_place() {
    for (written, name) in [
        (r#""scripted""#, "scripted"),
        (r#""scripted:agents.json""#, "scripted:agents.json"),
        (SPEC, "scripted"),
    ] {
        let config = merged(&format!("{{\n\"backend\": {written}}}"), Mode::Run);

        let (backend, source) = config.backend().expect("it is named");
        assert_eq!(backend.name(), name);
        assert_eq!(source.to_string(), ".autonoe/agent.json:2");
        let line = config.explain().iter().find(|line| line.key == "backend");
        assert_eq!(line.expect("it is explained").value, name);
    }
    assert!(merged("{}", Mode::Run).backend().is_none());
}

#[test]
fn a_backend_survives_being_written_and_read() {
    let config = parse(&format!(r#"{{"backend": {SPEC}}}"#)).expect("a configuration");

    let parsed = parse(&serde_json::to_string(&config).expect("JSON")).expect("the same");

    assert!(matches!(parsed.backend, Some(NamedBackend::Spec(_))));
}

#[test]
fn an_error_in_a_backend_has_its_position() {
    // `behaviour-silent` is registered by another module of this binary.
    for (written, expected) in [
        (
            r#""scriptd""#,
            "1:13: /backend: unknown backend `scriptd`; did you mean `scripted`?",
        ),
        (
            r#"{"type": "unheard-of"}"#,
            "1:22: /backend/type: unknown backend `unheard-of`; known are `behaviour-silent`, \
             `scripted`",
        ),
        (
            "{}",
            "1:13: /backend: the backend has no `type`; known are `behaviour-silent`, `scripted`",
        ),
        (
            r#"{"type": "scripted", "sesions": []}"#,
            "1:34: /backend/sesions: unknown field `sesions`; did you mean `sessions`?",
        ),
        (
            r#"{"type": "scripted", "sessions": 3}"#,
            "1:46: /backend/sessions: expected a list, found a number",
        ),
        (
            "null",
            "1:13: /backend: expected a backend or its name, found null; write a value, or leave it out",
        ),
    ] {
        let message = error(&format!(r#"{{"backend": {written}}}"#));

        assert!(message.contains(expected), "{written}: {message}");
    }
}

#[test]
fn no_file_can_choose_the_sandbox() {
    let text = r#"{"backend": {"type": "scripted", "sessions": [], "sandbox": {}}}"#;

    let error = parse(text).expect_err("it may not");

    assert_eq!(error.kind(), ConfigErrorKind::Backend);
    assert_eq!(error.pointer(), Some("/backend/sandbox"));
    assert!(error.to_string().contains("--backend"), "{error}");
}

#[test]
fn the_schema_takes_a_name_or_any_backend_that_is_known() {
    let schema = plain_schema::<autonoe_core::project::AgentConfig>().to_value();

    let either = &schema["$defs"]["NamedBackend"]["anyOf"];
    assert_eq!(either[0]["type"], "string", "{schema:#}");
    let backends = either[1]["oneOf"].as_array().expect("a list");
    let mut tags = backends
        .iter()
        .map(|backend| &backend["properties"]["type"]["const"]);
    assert!(tags.any(|tag| tag == "scripted"), "{schema:#}");
}
