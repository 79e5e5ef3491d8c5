//! Tests of the plugins that the command knows by name.

use autonoe_acp as _;
use autonoe_claude as _;
use autonoe_codex as _;
use autonoe_core::spec::{SpecPort, registered_specs};
use autonoe_model as _;
use autonoe_testkit::conformance;

#[test]
fn every_spec_that_the_command_knows_keeps_the_rules() {
    let backends = registered_specs(SpecPort::Backend);
    let tags: Vec<_> = backends.iter().map(|spec| spec.tag).collect();

    let expected = ["acp", "claude", "codex", "gemini", "model", "scripted"];
    assert_eq!(tags, expected);
    conformance::specs().assert();
}
