//! `autonoe ask` in a real terminal: the answer, the transient line and the chat.

use std::fs;

use serde_json::{Value, json};

use super::{Resume, ask_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{ends, hangs, text_step, uses, waits_for_file};
use crate::runs::terminal::pty::Terminal;

/// Returns the line with `text` on the screen.
fn line_with<'s>(screen: &'s str, text: &str) -> Option<&'s str> {
    screen.lines().find(|line| line.contains(text))
}

/// Returns whether the transient line shows `activity` and has been drawn more than once.
fn shows(screen: &str, activity: &str) -> bool {
    let last = screen.lines().last().unwrap_or_default();
    last.starts_with("⚡ ") && !last.starts_with("⚡ 0:00") && last.contains(activity)
}

#[test]
fn streamed_text_appears_immediately_and_the_status_line_overwrites_none() {
    let project = Project::new();
    let [first, second] = ["first", "second"].map(|name| project.sibling_path(name));
    let steps: &[Value] = &[
        text_step("I look at "),
        waits_for_file(&first),
        text_step("the build."),
        uses("Bash", json!({"command": "ls"})),
        waits_for_file(&second),
        text_step("It is a typo.\n"),
        text_step("In line 3."),
        ends(),
    ];
    let command = ask_command(&project, [steps], Resume::Possible, &["why?"]);
    let terminal = Terminal::start(&command, 80);

    let during = terminal.wait_for_text("I look at");
    assert!(!during.contains("Responding"), "{during}");
    fs::write(first, "").expect("writable");
    let during = terminal.wait_for("the tool", |screen| {
        shows(screen, "Running Bash... (1 tool)")
    });
    let whole = line_with(&during, "I look at");
    assert_eq!(whole, Some("I look at the build."), "{during}");
    fs::write(second, "").expect("writable");
    let (code, after) = terminal.end();

    assert_eq!(code, 0, "{after}");
    let lines: Vec<_> = after.lines().collect();
    assert_eq!(
        lines[..3],
        ["I look at the build.", "It is a typo.", "In line 3."],
        "{after}"
    );
    assert!(lines[3].starts_with("$0.25, "), "{after}");
    assert!(!after.contains('⚡'), "{after}");
}

#[test]
fn long_answers_are_wrapped_without_losing_words() {
    let project = Project::new();
    let words: Vec<_> = (1..=40).map(|number| format!("word{number:02}")).collect();
    let mut steps: Vec<Value> = words
        .iter()
        .map(|word| text_step(&format!("{word} ")))
        .collect();
    steps.extend([
        uses("Bash", json!({"command": "ls"})),
        text_step("Done."),
        ends(),
    ]);
    let command = ask_command(&project, [&steps[..]], Resume::Possible, &["why?"]);

    let (code, after) = Terminal::start(&command, 32).end();

    assert_eq!(code, 0, "{after}");
    for word in &words {
        let joined = after.replace('\n', "");
        assert!(joined.contains(word.as_str()), "{word}: {after}");
    }
    assert!(after.contains("\nDone.\n"), "{after}");
}

#[test]
fn a_warning_starts_a_new_line_after_streamed_text() {
    let project = Project::new();
    let steps: &[Value] = &[text_step("I look at"), hangs()];
    let command = ask_command(&project, [steps], Resume::Possible, &["why?"]);
    let mut terminal = Terminal::start(&command, 80);
    terminal.wait_for_text("I look at");

    terminal.interrupt();
    let (code, after) = terminal.end();

    assert_eq!(code, 130, "{after}");
    assert!(
        after.starts_with("I look at\nwarning: stopping; interrupt again to exit immediately\n"),
        "{after}"
    );
}

/// Types a line once more than `prompts` prompts are on the screen.
fn type_line(terminal: &mut Terminal, prompts: usize, text: &str) {
    terminal.wait_for("the prompt", |screen| {
        let prompted = screen.lines().filter(|line| line.starts_with('>'));
        prompted.count() > prompts && screen.lines().last() == Some(">")
    });
    terminal.press(format!("{text}\r").as_bytes());
}

#[test]
fn a_chat_is_one_conversation_until_a_new_one_is_started() {
    let project = Project::new();
    let [one, two, three] = ["One.", "Two.", "Three."].map(|text| [text_step(text), ends()]);
    let command = ask_command(&project, [&one, &two, &three], Resume::Possible, &[]);
    let mut terminal = Terminal::start(&command, 120);

    type_line(&mut terminal, 0, "first");
    type_line(&mut terminal, 1, "second");
    type_line(&mut terminal, 2, "/cost");
    type_line(&mut terminal, 3, "/new");
    type_line(&mut terminal, 4, "third");
    type_line(&mut terminal, 5, "/quit");
    type_line(&mut terminal, 6, "/exit");
    let (code, screen) = terminal.end();

    assert_eq!(code, 0, "{screen}");
    let lines: Vec<_> = screen
        .lines()
        .map(|line| match line.split_once(", ") {
            Some((cost, rest)) if cost.starts_with('$') => {
                let (_, rest) = rest.split_once(", ").expect("a duration");
                format!("{cost}, {rest}")
            }
            _ => line.to_owned(),
        })
        .collect();
    assert!(lines[0].starts_with("Chat: /new starts"), "{screen}");
    assert_eq!(
        lines[1..11],
        [
            "> first",
            "One.",
            "$0.25, 0 tools",
            "> second",
            "Two.",
            "$0.25, 0 tools, $0.50 in total",
            "> /cost",
            "$0.50",
            "> /new",
            "> third",
        ],
        "{screen}"
    );
    assert_eq!(lines[11..13], ["Three.", "$0.25, 0 tools"], "{screen}");
    assert!(screen.contains("unknown command /quit"), "{screen}");
}

#[test]
fn ctrl_c_stops_the_agent_and_at_the_prompt_it_ends_the_chat() {
    let project = Project::new();
    let (hanging, answer) = (
        [text_step("I begin."), hangs()],
        [text_step("Two."), ends()],
    );
    let command = ask_command(&project, [&hanging, &answer], Resume::Possible, &[]);
    let mut terminal = Terminal::start(&command, 120);

    type_line(&mut terminal, 0, "first");
    terminal.wait_for_text("I begin.");
    terminal.interrupt();
    terminal.wait_for_text("error: the session was cancelled");
    type_line(&mut terminal, 1, "second");
    terminal.wait_for_text("Two.");
    terminal.wait_for("the prompt", |screen| screen.lines().last() == Some(">"));
    terminal.interrupt();
    let (code, screen) = terminal.end();

    assert_eq!(code, 130, "{screen}");
}

#[test]
fn a_failed_answer_does_not_end_a_chat_but_a_spent_quota_does() {
    let project = Project::new();
    let failing = [json!({"endsWithError": "it broke"})];
    let spent = [json!({"hitsQuota": null})];
    let command = ask_command(&project, [&failing, &spent], Resume::Possible, &[]);
    let mut terminal = Terminal::start(&command, 120);

    type_line(&mut terminal, 0, "first");
    terminal.wait_for_text("error: the session failed: it broke");
    type_line(&mut terminal, 1, "second");
    let (code, screen) = terminal.end();

    assert_eq!(code, 5, "{screen}");
    assert!(
        screen.contains("error: the session hit the quota"),
        "{screen}"
    );
}

#[test]
fn a_spent_budget_ends_a_chat() {
    let project = Project::new();
    let answer = [text_step("One."), ends()];
    let limit = &["--max-cost=0.20"];
    let command = ask_command(&project, [&answer, &answer], Resume::Possible, limit);
    let mut terminal = Terminal::start(&command, 120);

    type_line(&mut terminal, 0, "first");
    type_line(&mut terminal, 1, "second");
    let (code, screen) = terminal.end();

    assert_eq!(code, 6, "{screen}");
    assert!(screen.contains("the cost budget is spent"), "{screen}");
}

#[test]
fn the_end_of_the_input_ends_a_chat() {
    let project = Project::new();
    let answer = [text_step("One."), ends()];
    let command = ask_command(&project, [&answer], Resume::Possible, &[]);
    let mut terminal = Terminal::start(&command, 120);

    terminal.wait_for("the prompt", |screen| screen.lines().last() == Some(">"));
    terminal.press(b"\x04");
    let (code, screen) = terminal.end();

    assert_eq!(code, 0, "{screen}");
    assert!(!project.path(".autonoe/conversations/ask.json").exists());
}

#[test]
fn a_chat_warns_once_if_the_backend_cannot_resume_conversations() {
    let project = Project::new();
    let answer = [text_step("Hm."), ends()];
    let command = ask_command(&project, [&answer], Resume::Impossible, &[]);
    let mut terminal = Terminal::start(&command, 120);

    for prompts in 0..3 {
        type_line(&mut terminal, prompts, "hello");
    }
    type_line(&mut terminal, 3, "/exit");
    let (code, screen) = terminal.end();

    assert_eq!(code, 0, "{screen}");
    let warning = "cannot resume a conversation: each message starts a new one";
    assert_eq!(screen.matches(warning).count(), 1, "{screen}");
    assert_eq!(screen.matches("Hm.").count(), 3, "{screen}");
    assert!(!screen.contains("in total"), "{screen}");
}
