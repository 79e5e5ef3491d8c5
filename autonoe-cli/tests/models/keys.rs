//! Tests that an API key appears in a request header and nowhere else.

use autonoe_testkit::model_server::{Refusal, Turn};
use serde_json::json;

use crate::models::fixture::{CommandOutput, Fixture, KEY, passes, plans};
use crate::models::vendor::Vendor;

/// Panics if a file or an output contains the key.
fn assert_key_is_nowhere(fixture: &Fixture, outputs: &[&CommandOutput]) {
    for (path, content) in fixture.files() {
        let text = String::from_utf8_lossy(&content);
        assert!(!text.contains(KEY), "the key is in {}", path.display());
    }
    for output in outputs {
        assert!(
            !output.stdout.contains(KEY),
            "the key was said: {}",
            output.stdout
        );
        assert!(
            !output.stderr.contains(KEY),
            "the key was said: {}",
            output.stderr
        );
    }
}

#[test]
fn a_key_is_in_no_file_and_on_no_screen_after_a_run() {
    for vendor in Vendor::ALL {
        let reads = "cat /proc/self/environ | tr '\\0' '\\n'; echo \"$THE_KEY\"";
        let server = vendor.serve([
            plans(),
            Turn::text("Planned."),
            Turn::tool("Bash", json!({"command": reads})),
            Turn::tool("Bash", json!({"command": "echo \"[$THE_KEY]\" > said.txt"})),
            passes(),
            Turn::text("Done."),
        ]);
        let fixture = Fixture::on(vendor, &server);

        let run = fixture.run(vendor, &["--debug"]);
        let log = fixture.autonoe(&["log"]);
        let json_log = fixture.autonoe(&["log", "--json"]);
        let report = fixture.autonoe(&["report"]);

        assert_eq!(run.code, Some(0), "{vendor:?}: {run:?}");
        assert_eq!(fixture.read("said.txt"), "[]\n", "{vendor:?}");
        assert_eq!(log.code, Some(0), "{log:?}");
        assert_eq!(
            (json_log.code, report.code),
            (Some(0), Some(0)),
            "{report:?}"
        );
        assert!(
            fixture
                .files()
                .iter()
                .any(|(path, _)| path.ends_with("journal.jsonl"))
        );
        assert_key_is_nowhere(&fixture, &[&run, &log, &json_log, &report]);
        let log = server.log().render();
        let results = server.log().main_requests();
        assert!(!format!("{results:?}{log}").contains(KEY), "{vendor:?}");
    }
}

#[test]
fn a_key_that_the_provider_repeats_is_not_printed() {
    for vendor in Vendor::ALL {
        let refusal = Refusal::unauthorized().with_message(format!("invalid key {KEY}"));
        let server = vendor.serve([refusal]);
        let fixture = Fixture::on(vendor, &server);

        let output = fixture.run(vendor, &["--debug", "--output=json"]);

        assert_eq!(output.code, Some(1), "{vendor:?}: {output:?}");
        assert_key_is_nowhere(&fixture, &[&output]);
    }
}

#[test]
fn passing_the_variable_of_a_provider_key_to_commands_is_refused() {
    let vendor = Vendor::Chat;
    let server = vendor.serve(Vec::<Turn>::new());
    let fixture = Fixture::with_file(&json!({
        "providers": {"scripted": vendor.spec(&server)}, "tools": {"variables": ["THE_KEY"]},
    }));

    let output = fixture.run(vendor, &[]);

    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output
            .stderr
            .contains("the variable THE_KEY contains a key of the provider"),
        "{output:?}"
    );
}

#[test]
fn commands_do_not_get_a_copy_of_a_key_under_another_name() {
    let vendor = Vendor::Chat;
    let server = vendor.serve([
        plans(),
        Turn::text("Planned."),
        Turn::tool("Bash", json!({"command": "echo \"[$COPY][$PLAIN]\""})),
        passes(),
        Turn::text("Done."),
    ]);
    let fixture = Fixture::with_file(&json!({
        "providers": {"scripted": vendor.spec(&server)},
        "tools": {"variables": ["COPY", "PLAIN"]},
    }));
    let mut command = fixture.run_command(vendor, &[]);
    command
        .env("COPY", format!("Bearer {KEY}"))
        .env("PLAIN", "seen");

    let output = CommandOutput::from(command.output().expect("it starts"));

    assert_eq!(output.code, Some(0), "{output:?}");
    let requests = server.log().main_requests();
    let results = requests.last().expect("somebody asked").tool_results();
    assert!(results[0].text.contains("[][seen]"), "{results:?}");
}

#[test]
fn a_key_file_in_the_project_is_refused_and_one_outside_is_hidden() {
    let vendor = Vendor::Chat;
    let server = vendor.serve([
        plans(),
        Turn::text("Planned."),
        Turn::tool("Bash", json!({"command": "cat ../home/key"})),
        passes(),
        Turn::text("Done."),
    ]);
    let models = |file: &str| {
        let mut spec = vendor.spec(&server);
        spec["key"] = json!({"file": file});
        json!({"providers": {"scripted": spec}})
    };
    let fixture = Fixture::with_file(&models("secret/key"));
    fixture.write("secret/key", KEY);

    let refused = fixture.run(vendor, &[]);

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("move secret/key elsewhere"),
        "{refused:?}"
    );

    let fixture = Fixture::with_file(&models("../home/key"));
    fixture.write("../home/key", KEY);
    let output = fixture.run(vendor, &[]);

    assert_eq!(output.code, Some(0), "{output:?}");
    let requests = server.log().main_requests();
    assert!(!format!("{requests:?}").contains(KEY), "{requests:?}");
}
