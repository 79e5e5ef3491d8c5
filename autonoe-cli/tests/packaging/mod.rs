//! What the command is shipped in. No image can be built in a test; what can be read is.

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

#[test]
fn the_image_has_the_variants_of_the_specification() {
    let stages: BTreeSet<_> = stages().into_iter().collect();
    for variant in ["base", "node", "python", "golang", "ruby"] {
        assert!(stages.contains(variant), "{variant}: {stages:?}");
    }
}

#[test]
fn a_stage_uses_only_stages_before_it() {
    let mut known = BTreeSet::new();
    for line in DOCKERFILE.lines() {
        if let Some(rest) = line.strip_prefix("COPY --from=") {
            let from = rest.split(' ').next().unwrap_or_default();
            assert!(known.contains(from), "{line}");
        }
        if let Some(rest) = line.strip_prefix("FROM ") {
            let from = rest.split(' ').next().unwrap_or_default();
            let is_image = from.contains(':');
            assert!(is_image || known.contains(from), "{line}");
            known.extend(rest.split_once(" AS ").map(|(_, name)| name));
        }
    }
}

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
fn nobody_works_as_root_in_it() {
    let mut users = DOCKERFILE.lines().filter(|line| line.starts_with("USER "));
    assert_eq!(users.next_back(), Some("USER node"));
    let switched = DOCKERFILE.matches("USER root").count();
    let back = DOCKERFILE.matches("USER node").count();
    assert_eq!(
        back,
        switched + 1,
        "each stage goes back, and the base begins so"
    );
}

#[test]
fn it_has_the_build_of_claude_code_that_was_tested() {
    let line = DOCKERFILE
        .lines()
        .find_map(|line| line.strip_prefix("ARG CLAUDE_CODE_VERSION="));
    let version = line.expect("it is pinned");
    assert!(PINS.contains(&format!("version: {version:?}")), "{version}");
}

#[test]
fn it_builds_with_the_toolchain_of_the_workspace() {
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
