//! `autonoe status` on wide and narrow terminals.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::pty::Terminal;
use crate::runs::support::autonoe::autonoe;
use crate::runs::support::project::Project;

fn project() -> Project {
    let project = Project::new();
    let deliverable = |id: &str, description: &str, passed: bool| {
        json!({
            "id": id, "description": description, "acceptanceCriteria": ["it works"],
            "passed": passed, "blocked": false,
        })
    };
    let ledger = json!({"deliverables": [
        deliverable("DL-001", "A visitor can sign up with an address and a password of at least twelve characters", true),
        deliverable("DL-002", "利用者はカードで支払うことができ、領収書を受け取ることができる", false),
        deliverable("DL-003", "👩\u{200d}💻 Developers see ❤\u{fe0f} and 👍🏽 in the list of reactions, as they were sent", false),
        deliverable("the-one-with-a-name-that-somebody-took-from-a-branch", "Log out", false),
    ]});
    project.write(".autonoe/status.json", &ledger.to_string());
    project
}

fn rendered(columns: u16) -> String {
    let project = project();
    let command = autonoe(&project, &["status"]);

    let terminal = Terminal::start(&command, columns);
    let (code, written) = terminal.end_with_output();

    assert_eq!(code, 0, "{written}");
    written.replace("\r\n", "\n")
}

#[test]
fn long_descriptions_are_wrapped_under_their_column_and_long_names_cut() {
    insta::assert_snapshot!(rendered(60));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in [48, 60, 80, 120, 200] {
        let written = rendered(columns);

        for line in written.lines() {
            assert!(line.width() <= usize::from(columns), "{columns}: {line}");
        }
    }
}

#[test]
fn a_wide_terminal_truncates_nothing() {
    let written = rendered(300);

    assert!(
        written.contains("took-from-a-branch  Log out\n"),
        "{written}"
    );
    assert!(
        written.contains("password of at least twelve characters\n"),
        "{written}"
    );
}
