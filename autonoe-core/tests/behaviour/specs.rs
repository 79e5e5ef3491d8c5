//! Plugins that a configuration file can name.

use std::sync::Arc;

use autonoe_core::agent::{Availability, BackendProbe};
use autonoe_core::gate::ProjectPaths;
use autonoe_core::spec::{
    BackendSpec, HookSpec, SpecContext, SpecError, SpecPort, plain_backend, probe_backends,
    registered_specs,
};
use autonoe_core::{AgentClientFactory, ExitReason};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use serde_json::json;

use crate::behaviour::support::{Fixture, create, passes, status};

#[tokio::test(start_paused = true)]
async fn hooks_from_json_guard_a_run() {
    let hooks: Vec<Box<dyn HookSpec>> = serde_json::from_value(json!([
        {"type": "core-deny-tool", "rule": "Bash(git push *)", "reason": "a person pushes"},
    ]))
    .expect("known tags");
    let fixture = Fixture::new([
        SessionScript::new("tries to push")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .uses_tool("Bash", json!({"command": "git status"}))
            .is_denied_by(
                "deny Bash(git push *)",
                "Bash",
                json!({"command": "git push origin"}),
            )
            .ends(),
        passes("A"),
    ]);
    let context = SpecContext::new(ProjectPaths::new("/srv/project"));
    let runner = hooks.iter().fold(fixture.runner(), |runner, spec| {
        runner.hook(spec.build(&context).expect("it builds"))
    });

    let report = fixture.run(runner).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

#[test]
fn an_unknown_tag_lists_the_known_ones() {
    let error = serde_json::from_value::<Box<dyn HookSpec>>(json!({"type": "core-dney-tool"}))
        .expect_err("nobody has this tag");

    let message = error.to_string();
    assert!(
        message.contains("core-dney-tool") && message.contains("core-deny-tool"),
        "{message}"
    );
}

#[test]
fn an_unknown_field_and_a_wrong_rule_are_errors() {
    for wrong in [
        json!({"type": "core-deny-tool", "rule": "Task", "reason": "no", "extra": 1}),
        json!({"type": "core-deny-tool", "rule": "Task(", "reason": "no"}),
        json!({"type": "core-deny-tool", "reason": "no"}),
    ] {
        let refused = serde_json::from_value::<Box<dyn HookSpec>>(wrong.clone());

        assert!(refused.is_err(), "{wrong} was accepted");
    }
}

#[test]
fn every_registered_example_parses() {
    for entry in registered_specs(SpecPort::Hook) {
        serde_json::from_value::<Box<dyn HookSpec>>((entry.example)()).expect(entry.tag);
    }
    for entry in registered_specs(SpecPort::Backend) {
        serde_json::from_value::<Box<dyn BackendSpec>>((entry.example)()).expect(entry.tag);
    }
}

/// Location of a cake. Core knows nothing of cakes.
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Cake {
    place: String,
}

autonoe_core::register_spec!(Other("cake"), Cake, "behaviour-cake", {"place": "oven"});

#[test]
fn a_port_of_another_crate_lists_its_specs_and_schemas() {
    let specs = registered_specs(SpecPort::Other("cake"));
    let [cake] = specs[..] else {
        panic!("{specs:?}")
    };

    assert_eq!((cake.port.name(), cake.tag), ("cake", "behaviour-cake"));
    assert_eq!(
        (cake.example)(),
        json!({"type": "behaviour-cake", "place": "oven"})
    );
    assert!(registered_specs(SpecPort::Other("pie")).is_empty());
    let schemas = autonoe_core::schemas();
    assert_eq!(
        schemas["cake.behaviour-cake"]["required"],
        json!(["place", "type"])
    );
}

#[tokio::test(start_paused = true)]
async fn a_backend_from_json_runs() {
    let spec: Box<dyn BackendSpec> = serde_json::from_value(json!({
        "type": "scripted",
        "sessions": [
            {"name": "plan", "costUsd": "0.50", "steps": [
                {"uses": {"tool": "mcp__autonoe__create", "input": create(&["A"])}},
                "ends",
            ]},
            {"name": "build", "steps": [
                {"says": "working"},
                {"isDenied": {"tool": "Bash", "input": {"command": "cp x .autonoe/y"}}},
                {"uses": {"tool": "mcp__autonoe__set_status", "input": status("A", "passed")}},
                "ends",
            ]},
        ],
    }))
    .expect("the testkit is linked");
    let agents = spec
        .build(&SpecContext::new(ProjectPaths::new("/srv/project")))
        .expect("it builds");
    let fixture = Fixture::new([]);

    let report = fixture
        .run(fixture.runner().agents(Arc::clone(&agents)))
        .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(report.cost.to_string(), "$0.50");
}

/// A backend whose spec says nothing of how it is looked at.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Silent {
    #[serde(default)]
    is_broken: bool,
}

#[typetag::serde(name = "behaviour-silent")]
impl BackendSpec for Silent {
    fn build(&self, _: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        if self.is_broken {
            Err(SpecError::new("behaviour-silent", "it is broken"))
        } else {
            Ok(Arc::new(ScriptedBackend::new([])))
        }
    }
}

autonoe_core::register_spec!(Backend, Silent, "behaviour-silent", {});

#[tokio::test(start_paused = true)]
async fn a_backend_without_its_own_probe_is_built() {
    let context = SpecContext::new(ProjectPaths::new("/srv/project"));
    for (is_broken, availability, summary) in [
        (false, Availability::Available, "it can be built"),
        (true, Availability::Unavailable, "it is broken"),
    ] {
        let probe = Silent { is_broken }.probe(&context).await;

        assert_eq!(probe.backend, "behaviour-silent");
        assert_eq!(probe.availability, availability);
        assert!(probe.findings[0].found.contains(summary), "{probe:?}");
        assert_eq!(Silent { is_broken }.outer_sandbox(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn every_backend_is_probed_and_reports_its_required_fields() {
    let context = |tag: &str| {
        let context = SpecContext::new(ProjectPaths::new("/srv/project"));
        (tag != "nobody").then_some(context)
    };

    let found = probe_backends(context).await;
    let none = probe_backends(|_| None).await;

    let of = |tag: &str| {
        let found = found.iter().find(|it| it.backend == tag);
        found.expect("it is registered").clone()
    };
    assert_eq!(of("behaviour-silent").availability, Availability::Available);
    assert_eq!(
        of("scripted"),
        BackendProbe::incomplete("scripted", vec!["sessions".to_owned()])
    );
    assert!(none.is_empty());
    assert_eq!(plain_backend("nobody").err(), Some(Vec::new()));
    let needed = plain_backend("scripted").err();
    assert_eq!(needed, Some(vec!["sessions".to_owned()]));
}
