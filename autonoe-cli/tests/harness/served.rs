//! The page, in a real browser.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::chromium::Chromium;
use crate::setting::Setting;

#[test]
fn a_browser_sees_the_fleet_live_and_pauses_a_member() {
    let setting = Setting::new();
    let agents = setting.usual_agents(&[("parser", "go")]);
    let run = setting.run(&["--backend", &agents]);
    setting.until_log_has("parser", "Session 1 started");
    let mut command = setting.command(&["serve"]);
    let mut server = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let output = server.stdout.take().expect("it is piped");
    let mut address = String::new();
    let read = BufReader::new(output).read_line(&mut address);
    assert!(
        read.is_ok() && address.starts_with("http://127.0.0.1:"),
        "{address}"
    );
    let mut browser = Chromium::start();

    browser.open(address.trim());
    for text in [
        "A calculator for the terminal.",
        "parser",
        "shell",
        "docs",
        "live",
    ] {
        browser.until_shown(text);
    }
    browser.until("[...document.querySelectorAll('tr')].some(row => row.innerText.includes('parser') && row.innerText.includes('running'))");
    browser.evaluate(PAUSE);
    setting.until_member_is("parser", "paused");
    browser.until_shown("paused");
    assert_eq!(setting.harness(&["resume", "parser"]).code, Some(0));
    setting.release("go");
    browser.until_shown("succeeded");

    assert_eq!(run.end().code, Some(0));
    let process = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it is ours");
    assert!(server.wait().expect("it ends").success());
}

/// Presses the button of the member that pauses it.
const PAUSE: &str = "[...document.querySelectorAll('button')].find(button => \
    button.innerText.toLowerCase().includes('pause') && !button.disabled && \
    button.closest('tr')?.innerText.includes('parser')).click()";
