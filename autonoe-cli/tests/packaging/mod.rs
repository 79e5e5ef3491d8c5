//! Tests of the container image against the specification. `xtask` tests that its `Dockerfile` is
//! well-formed.

use std::collections::BTreeSet;

const DOCKERFILE: &str = include_str!("../../../Dockerfile");
const PINS: &str = include_str!("../../../xtask/src/clis/pins.rs");

fn stages() -> Vec<&'static str> {
    let lines = DOCKERFILE.lines();
    lines
        .filter(|line| line.starts_with("FROM "))
        .filter_map(|line| line.split_once(" AS ").map(|(_, name)| name))
        .collect()
}

// Shows: spec/7.1/base-image, spec/7.1/targets
#[test]
fn the_image_has_the_variants_of_the_specification() {
    let stages: BTreeSet<_> = stages().into_iter().collect();
    for variant in [
        "base", "node", "bun", "python", "golang", "ruby", "rust", "php",
    ] {
        assert!(stages.contains(variant), "{variant}: {stages:?}");
    }
    let (before, _) = DOCKERFILE.split_once(" AS browser").expect("a stage");
    let (_, base) = before.split_once(" AS base").expect("a stage");
    assert!(base.contains("claude-code"), "{base}");
}

// Shows: spec/4.1.1/docker-environment
#[test]
fn the_environment_is_as_specified() {
    for variable in [
        "PLAYWRIGHT_BROWSERS_PATH=/tmp/playwright-browsers",
        "AUTONOE_NO_SANDBOX=1",
    ] {
        assert!(DOCKERFILE.contains(variable), "{variable}");
    }
}

#[test]
fn image_pins_the_tested_claude_code_version() {
    let line = DOCKERFILE
        .lines()
        .find_map(|line| line.strip_prefix("ARG CLAUDE_CODE_VERSION="));
    let version = line.expect("it is pinned");
    assert!(PINS.contains(&format!("version: {version:?}")), "{version}");
}

#[test]
fn image_uses_the_rust_version_of_the_workspace() {
    let manifest = include_str!("../../../Cargo.toml");
    let line = DOCKERFILE
        .lines()
        .find_map(|line| line.strip_prefix("ARG RUST_VERSION="));
    let version = line.expect("it is pinned");
    assert!(
        manifest.contains(&format!("rust-version = {version:?}")),
        "{version}"
    );
}
