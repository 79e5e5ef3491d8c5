//! The page of `autonoe harness serve` in a real browser, and the fleets of `autonoe serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use autonoe_testkit::program::chromium::Chromium;
use serde_json::Value;

use crate::harness::fixture::{Fixture, RunningCommand, eventually};

/// A server that a test started. Dropping it kills the process.
struct Server {
    child: Child,
    /// The address with the token.
    address: String,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let output = child.stdout.take().expect("it is piped");
        let mut address = String::new();
        let read = BufReader::new(output).read_line(&mut address);
        read.expect("it prints its address");
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Self {
            child,
            address: address.trim().to_owned(),
        }
    }

    /// Sends an interrupt and waits for the end.
    fn stop(mut self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it is ours");
        assert!(self.child.wait().expect("it ends").success());
    }

    /// Sends a POST request without a browser, and returns the whole response.
    fn post(&self, path: &str) -> String {
        let body = if path.ends_with("instruct") {
            r#"{"text": "Use tabs."}"#
        } else {
            ""
        };
        self.request("POST", path, body)
    }

    /// Returns the snapshot of the fleet that the page shows.
    fn fleet(&self) -> Value {
        let response = self.request("GET", "/api/dashboard", "");
        let (_, body) = response.split_once("\r\n\r\n").expect("a response");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}"))
    }

    fn request(&self, method: &str, path: &str, body: &str) -> String {
        let rest = self.address.strip_prefix("http://").expect("an address");
        let (host, token) = rest.split_once("/?token=").expect("it has a token");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut connection = TcpStream::connect(host).expect("it listens");
        connection.write_all(request.as_bytes()).expect("it reads");
        let mut response = String::new();
        let read = connection.read_to_string(&mut response);
        read.expect("it answers");
        response
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_browser_sees_the_fleet_live_and_pauses_a_member() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("parser", "Session 1 started");
    let server = Server::start(fixture.command(&["serve"]));
    let mut browser = Chromium::start();

    browser.open(&server.address);
    for text in [
        "A calculator for the terminal.",
        "parser",
        "shell",
        "docs",
        "live",
    ] {
        browser.wait_for_text(text);
    }
    browser.wait_until("[...document.querySelectorAll('tr')].some(row => row.innerText.includes('parser') && row.innerText.includes('running'))");
    browser.evaluate(PAUSE);
    fixture.until_member_is("parser", "paused");
    browser.wait_for_text("paused");
    assert_eq!(fixture.harness(&["resume", "parser"]).code, Some(0));
    fixture.release("go");
    browser.wait_for_text("succeeded");

    assert_eq!(run.end().code, Some(0));
    server.stop();
}

#[test]
fn a_member_that_was_not_started_accepts_no_requests() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let run = fixture.run(&["--backend", &agents]);
    fixture.until_log_has("parser", "Session 1 started");
    let server = Server::start(fixture.command(&["serve"]));

    let answers = ["pause", "kill", "stop", "instruct"]
        .map(|action| server.post(&format!("/api/members/shell/{action}")));
    let paused = server.post("/api/members/parser/pause");

    for answer in answers {
        assert!(answer.starts_with("HTTP/1.1 409 "), "{answer}");
        assert!(answer.contains("it was not started yet"), "{answer}");
    }
    assert!(paused.starts_with("HTTP/1.1 202 "), "{paused}");
    fixture.until_member_is("parser", "paused");
    assert_eq!(fixture.harness(&["resume", "parser"]).code, Some(0));
    fixture.release("go");
    assert_eq!(run.end().code, Some(0));
    server.stop();
}

#[test]
fn serve_shows_a_fleet_and_switches_to_a_newer_one() {
    let fixture = Fixture::new();
    let server = Server::start(fixture.autonoe(&["serve"]));
    let objective = || server.fleet()["objective"].clone();
    assert_eq!(objective(), "");

    let agents = fixture.usual_agents(&[]);
    assert_eq!(fixture.run(&["--backend", &agents]).end().code, Some(0));
    eventually("the first fleet", || {
        objective() == "A calculator for the terminal."
    });

    let second = fixture.read("ROADMAP.md");
    let second = second.replace("for the terminal", "for the desktop");
    fixture.write("SECOND.md", &second);
    fixture.git(&["add", "SECOND.md"]);
    fixture.git(&["commit", "-q", "-m", "The second roadmap"]);
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let command = fixture.command(&["run", "SECOND.md", "--backend", &agents]);
    let run = RunningCommand::start(command);
    eventually("the second fleet", || {
        objective() == "A calculator for the desktop."
    });
    let is_parser = |status: &str| {
        let fleet = server.fleet();
        let mut members = fleet["members"].as_array().into_iter().flatten();
        members.any(|member| member["id"] == "parser" && member["status"] == status)
    };
    eventually("a member at work", || is_parser("running"));

    let paused = server.post("/api/members/parser/pause");

    assert!(paused.starts_with("HTTP/1.1 202 "), "{paused}");
    eventually("a paused member", || is_parser("paused"));
    let resumed = server.post("/api/members/parser/resume");
    assert!(resumed.starts_with("HTTP/1.1 202 "), "{resumed}");
    fixture.release("go");
    assert_eq!(run.end().code, Some(0));
    server.stop();
}

/// Presses the button that pauses the member.
const PAUSE: &str = "[...document.querySelectorAll('button')].find(button => \
    button.innerText.toLowerCase().includes('pause') && !button.disabled && \
    button.closest('tr')?.innerText.includes('parser')).click()";
