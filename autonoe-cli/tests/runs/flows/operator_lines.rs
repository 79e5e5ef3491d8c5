//! Output of `autonoe flow run` for the operator: warnings at the start, denied calls at the end.

use serde_json::json;

use super::fixture::{backend, flow, npm_fails, project};
use crate::runs::support::autonoe::CommandOutput;
use crate::runs::support::script::{Script, ends, is_denied_by, text_step};

fn run(options: &[&str]) -> CommandOutput {
    let project = project();
    npm_fails(&project, 0);
    let wget = json!({"command": "wget example.com"});
    let script = Script::new().session([
        is_denied_by("bash-security", "Bash", wget),
        text_step("Now it is right."),
        ends(),
    ]);
    let backend = backend(&project, &script);
    let bug = ["--bug", "it crashes at midnight"];
    let words = [&["fix-bug", &backend][..], options, &bug].concat();

    let ended = CommandOutput::run(flow(&project, &words));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended
}

#[test]
fn denied_calls_are_listed_once_at_the_end() {
    let summary = "Denied calls that you can allow:
  1x Bash: wget example.com
     to allow it: add \"wget\" to \"allowCommands\" in .autonoe/agent.json
";

    let ended = run(&[]);

    assert!(ended.stderr.ends_with(summary), "{ended:?}");
}

#[test]
fn a_flow_warns_at_its_start_about_options_that_remove_protection() {
    for (options, warnings) in [
        (&[][..], &[][..]),
        (&["--allow-destructive"], &["--allow-destructive is on"]),
        (&["--no-sandbox"], &["the sandbox is switched off"]),
    ] {
        let ended = run(options);

        let start = ended.stderr.split("Step fix").next().unwrap_or_default();
        assert_eq!(
            ended.stderr.matches("warning:").count(),
            warnings.len(),
            "{options:?}: {ended:?}"
        );
        for warning in warnings {
            assert_eq!(start.matches(warning).count(), 1, "{options:?}: {ended:?}");
        }
    }
}
