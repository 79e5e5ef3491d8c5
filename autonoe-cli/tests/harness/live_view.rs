//! The live view of a fleet, in a terminal.

use crate::harness::fixture::{Fixture, run};
use crate::runs::terminal::pty::Terminal;

#[test]
fn the_result_of_a_fleet_remains_after_the_live_view() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let command = fixture.command(&run(&["--backend", &agents]));
    let terminal = Terminal::start(&command, 120);

    let screen = terminal.wait_for("the members", |screen| {
        screen.contains("docs") && screen.contains("completed") && screen.contains("running")
    });
    fixture.release("go");
    let (code, screen_at_end) = terminal.end();

    assert!(
        screen.contains("A calculator for the terminal."),
        "{screen}"
    );
    assert!(screen.contains("graph"), "{screen}");
    assert_eq!(code, 0, "{screen_at_end}");
    assert!(
        screen_at_end.contains("Fleet roadmap succeeded"),
        "{screen_at_end}"
    );
}

#[test]
fn a_key_pauses_a_member_and_control_c_leaves_the_fleet() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let options = ["--backend", &agents];
    let mut terminal = Terminal::start(&fixture.command(&run(&options)), 120);
    fixture.until_log_has("parser", "Session 1 started");
    terminal.wait_for_text("running");

    terminal.press(b"p");
    fixture.until_member_is("parser", "paused");
    terminal.wait_for_text("paused");
    terminal.interrupt();
    let (code, screen) = terminal.end();

    assert_eq!(code, 130, "{screen}");
    assert!(
        screen.contains("run the same command to resume it"),
        "{screen}"
    );
    assert_eq!(fixture.left_processes(), 0);
}

#[test]
fn without_the_view_there_are_lines_in_a_terminal_too() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    let command = fixture.command(&run(&["--backend", &agents, "--no-view"]));

    let (code, written) = Terminal::start(&command, 120).end_with_output();

    assert_eq!(code, 0, "{written}");
    assert!(written.contains("parser started"), "{written}");
    assert!(!written.contains("\u{1b}[?1049h"), "it has its own screen");
}
