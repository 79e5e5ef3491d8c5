//! The page of `autonoe harness serve`, in a real browser.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::harness::chromium::Chromium;
use crate::harness::fixture::Fixture;

#[test]
fn a_browser_sees_the_fleet_live_and_pauses_a_member() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("parser", "Session 1 started");
    let mut command = fixture.command(&["serve"]);
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
    fixture.until_member_is("parser", "paused");
    browser.until_shown("paused");
    assert_eq!(fixture.harness(&["resume", "parser"]).code, Some(0));
    fixture.release("go");
    browser.until_shown("succeeded");

    assert_eq!(run.end().code, Some(0));
    let process = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it is ours");
    assert!(server.wait().expect("it ends").success());
}

#[test]
fn a_member_that_was_not_started_accepts_no_requests() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("parser", "Session 1 started");
    let mut command = fixture.command(&["serve"]);
    let mut server = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let output = server.stdout.take().expect("it is piped");
    let mut address = String::new();
    let read = BufReader::new(output).read_line(&mut address);
    read.expect("it says where it is");

    let answers = ["pause", "kill", "stop", "instruct"]
        .map(|action| post(address.trim(), &format!("/api/members/shell/{action}")));
    let paused = post(address.trim(), "/api/members/parser/pause");

    for answer in answers {
        assert!(answer.starts_with("HTTP/1.1 409 "), "{answer}");
        assert!(answer.contains("it was not started yet"), "{answer}");
    }
    assert!(paused.starts_with("HTTP/1.1 202 "), "{paused}");
    fixture.until_member_is("parser", "paused");
    assert_eq!(fixture.harness(&["resume", "parser"]).code, Some(0));
    fixture.release("go");
    assert_eq!(run.end().code, Some(0));
    let process = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it is ours");
    assert!(server.wait().expect("it ends").success());
}

/// Sends a POST request to the page without a browser, and returns the whole response.
fn post(address: &str, path: &str) -> String {
    let rest = address.strip_prefix("http://").expect("an address");
    let (host, secret) = rest.split_once("/?token=").expect("it has a secret");
    let body = if path.ends_with("instruct") {
        r#"{"text": "Use tabs."}"#
    } else {
        ""
    };
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {secret}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(host).expect("it listens");
    connection.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    let read = connection.read_to_string(&mut answer);
    read.expect("it answers");
    answer
}

/// Presses the button that pauses the member.
const PAUSE: &str = "[...document.querySelectorAll('button')].find(button => \
    button.innerText.toLowerCase().includes('pause') && !button.disabled && \
    button.closest('tr')?.innerText.includes('parser')).click()";
