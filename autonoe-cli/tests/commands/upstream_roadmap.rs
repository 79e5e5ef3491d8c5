//! Test of `autonoe harness run` on a roadmap of um-agent-coder.

use serde_json::Value;

use crate::commands::fixture::Fixture;

#[test]
fn a_roadmap_of_um_agent_coder_is_done_and_keys_without_effect_are_warnings() {
    let agents = r#"{"sessions": [
        {"name": "a", "instruction": "task-a", "steps": [{"says": "A."}, "ends"]},
        {"name": "b", "instruction": "task-b", "steps": [{"says": "B."}, "ends"]}]}"#;
    let roadmap = "\
# Roadmap: Letters

## Tasks

### Phase 1: First
- [ ] **a**: Write A.
  - ralph: true
  - max_iterations: 2
  - depends: none

### Phase 2: Second
- [ ] **b**: Write B.

## Growth Mode
1. More letters.
";
    let fixture = Fixture::new()
        .file("agents.json", agents)
        .file("ROADMAP.md", roadmap);

    let output = fixture.autonoe(&[
        "harness",
        "run",
        "ROADMAP.md",
        "--no-worktrees",
        "--backend=scripted:agents.json",
        "--json",
    ]);

    assert_eq!(output.code, 0, "{}", output.screen());
    for warning in [
        "ROADMAP.md:7: ralph has no effect: ",
        "ROADMAP.md:14: this section has no effect: no tasks are added when all are done",
    ] {
        assert!(output.stderr.contains(warning), "{}", output.screen());
    }
    let result: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let results = result["results"].as_array().expect("a list").iter();
    let done: Vec<_> = results.map(|it| (&it["id"], &it["success"])).collect();
    let (a, b, yes) = ("a".into(), "b".into(), true.into());
    assert_eq!(done, [(&a, &yes), (&b, &yes)], "{result:#}");
}
