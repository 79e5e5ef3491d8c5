//! The program's output lines equal those of the real builds.

use std::collections::BTreeMap;
use std::path::Path;

use autonoe_testkit::fake_claude::Build;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Pattern {
    scenario: String,
    line: Value,
}

#[test]
fn every_pattern_is_a_recorded_line() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for build in Build::ALL {
        let version = build.version();
        let file = here.join(format!("src/fake_claude/recorded/{version}.json"));
        let bytes = std::fs::read(file).expect("it is there");
        let patterns: BTreeMap<String, Pattern> = serde_json::from_slice(&bytes).expect("readable");

        for (name, Pattern { scenario, line }) in patterns {
            let file = match scenario.as_str() {
                "failed_command" => {
                    here.join(format!("tests/fake_claude/recorded/{version}.jsonl"))
                }
                _ => crate::fake_claude::fixture::transcripts()
                    .join(format!("{version}/{scenario}.jsonl")),
            };
            let text = std::fs::read_to_string(file).expect("it was recorded");
            let mut records = text
                .lines()
                .map(|record| serde_json::from_str::<Value>(record).expect("JSON"));
            let is_recorded =
                records.any(|record| record["dir"] == "out" && record["line"] == line);
            assert!(is_recorded, "{name} is not in {scenario} of {version}");
        }
    }
}
