//! The spec suite detects faulty specs.
//!
//! This is a separate test program, because registered specs are visible in the whole program.

use std::sync::Arc;

use autonoe_core::spec::{BackendSpec, HookSpec, SpecContext, SpecEntry, SpecError, SpecPort};
use autonoe_core::{AgentClientFactory, HookDecision, PreToolUseHook, hook_fn, register_spec};
use autonoe_testkit::conformance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

macro_rules! hook_spec {
    ($spec:ty, $tag:literal) => {
        #[typetag::serde(name = $tag)]
        impl HookSpec for $spec {
            fn build(&self, _: &SpecContext) -> Result<Arc<dyn PreToolUseHook>, SpecError> {
                Ok(hook_fn($tag, |_, _| HookDecision::Pass))
            }
        }
    };
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Plain {}

hook_spec!(Plain, "test-plain");
register_spec!(Hook, Plain, "test-plain", {});
register_spec!(Hook, Plain, "test-plain", {});

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct NoDash {}

hook_spec!(NoDash, "nodash");
register_spec!(Hook, NoDash, "nodash", {});

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OldExample {
    reason: String,
}

hook_spec!(OldExample, "test-old-example");
register_spec!(Hook, OldExample, "test-old-example", { "because": "x" });

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct OfAnother {}

hook_spec!(OfAnother, "test-of-another");
// Registered by hand, because the macro prevents this fault.
autonoe_core::plugin::inventory::submit! {
    SpecEntry {
        port: SpecPort::Hook,
        tag: "test-of-another",
        module: module_path!(),
        schema: || schemars::schema_for!(OfAnother),
        example: || json!({"type": "test-plain"}),
    }
}

/// Leaves out when it is written what it needs when it is read.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Forgetful {
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
}

hook_spec!(Forgetful, "test-forgetful");
register_spec!(Hook, Forgetful, "test-forgetful", { "reason": "" });

#[derive(Debug, Serialize, Deserialize)]
struct NoObject {}

impl JsonSchema for NoObject {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NoObject".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}

hook_spec!(NoObject, "test-no-object");
register_spec!(Hook, NoObject, "test-no-object", {});

/// Registered for the table, but not for being read.
#[derive(Debug, JsonSchema)]
struct Unread {}

register_spec!(Hook, Unread, "test-unread", {});

/// Has a tag that a backend of Autonoe itself has.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct DuplicateTag {}

#[typetag::serde(name = "gemini")]
impl BackendSpec for DuplicateTag {
    fn build(&self, _: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        Err(SpecError::new("gemini", "it is nobody"))
    }
}

register_spec!(Backend, DuplicateTag, "gemini", {});

#[test]
fn every_fault_of_a_spec_is_found() {
    let report = conformance::specs();

    let failed: Vec<_> = report
        .failures()
        .iter()
        .map(|failure| {
            (
                failure.check.as_str(),
                failure.problem.lines().next().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        failed,
        [
            (
                "Hook: tags are unique",
                "\"test-plain\" is registered twice"
            ),
            (
                "Hook: tags have the form crate-thing",
                "\"nodash\" does not have this form"
            ),
            (
                "Hook: an example names its tag",
                "the example of \"test-of-another\" is of type \"test-plain\""
            ),
            (
                "Hook: an example can be read",
                "\"test-old-example\" cannot be read: unknown field `because`, expected `reason`"
            ),
            (
                "Hook: a spec survives being written and read",
                "\"test-forgetful\" cannot be read: missing field `reason`"
            ),
            (
                "Hook: a schema describes an object",
                "the schema of \"test-no-object\" is {\"type\":\"string\",\"title\":\"NoObject\",\"$schema\":\"https://json-schema.org/draft/2020-12/schema\"}"
            ),
            (
                "Hook: the error about an unknown tag lists the known ones",
                "\"test-unread\" is not in: unknown variant `conformance-no-such-spec`, expected one of `core-deny-tool`, `nodash`, `test-forgetful`, `test-no-object`, `test-of-another`, `test-old-example`, `test-plain`"
            ),
            (
                "Backend: tags have the form crate-thing",
                "\"gemini\" does not have this form"
            ),
        ]
    );
    assert_eq!(report.passed().len(), 6);
}
