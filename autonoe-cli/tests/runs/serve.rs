//! `autonoe serve` on a project with runs, in a real browser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::project::{OperatorRequest, RequestFolder, RunLock};
use autonoe_testkit::program::chromium::Chromium;
use base64::Engine as _;
use serde_json::json;

use super::support::autonoe::RunningCommand;
use crate::runs::support::autonoe::{autonoe, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, creates, ends, hangs, sets, text_step, waits_for_file};

/// A server, which ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `autonoe serve`, and returns it with the address that it prints.
fn serve(project: &Project) -> (Server, String) {
    let mut server = autonoe(project, &["serve"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let output = server.stdout.take().expect("it is piped");
    let mut address = String::new();
    let read = BufReader::new(output).read_line(&mut address);
    read.expect("it prints its address");
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    (Server(server), address.trim().to_owned())
}

/// Waits until the page shows `text` in its state.
fn until_phase(browser: &mut Chromium, phase: &str) {
    browser.wait_until(&format!(
        "document.getElementById('run-phase').textContent === '{phase}'"
    ));
}

fn press(browser: &mut Chromium, action: &str) {
    let selector = format!("#run-actions button[data-action={action}]");
    browser.wait_until(&format!("!document.querySelector('{selector}').hidden"));
    browser.click(&selector);
}

#[test]
fn a_browser_follows_a_run_through_a_pause_a_kill_and_a_resume() {
    let project = Project::new();
    let (planned, killed, finish) = (
        project.sibling_path("planned"),
        project.sibling_path("killed"),
        project.sibling_path("finish"),
    );
    let first = Script::new()
        .session([
            creates(&["DL-001", "DL-002"]),
            text_step("I have a plan."),
            waits_for_file(&planned),
            ends(),
        ])
        .session([
            sets("DL-001", "passed"),
            text_step("I work on the second thing."),
            waits_for_file(&killed),
            ends(),
        ]);
    let (_server, address) = serve(&project);
    let mut browser = Chromium::start();
    browser.open(&address);
    browser.wait_for_text("There is no run yet.");
    browser.evaluate("window.mark = 1");

    let command = scripted_command(&project, &first, &["run"]);
    let mut run = RunningCommand::until_journal_has(command, &project, "DL-002");
    until_phase(&mut browser, "running");
    for text in ["The thing DL-001", "The thing DL-002", "I have a plan."] {
        browser.wait_for_text(text);
    }
    browser.evaluate("document.querySelector('details[data-key=\"DL-001\"]').open = true");

    press(&mut browser, "pause");
    until_phase(&mut browser, "pausing");
    // Otherwise the next session could start first.
    run.wait_for_journal(&project, "pause_requested");
    project.write("../planned", "");
    until_phase(&mut browser, "paused");
    press(&mut browser, "instruct");
    browser.wait_until("ask.open");
    browser.evaluate("text.value = 'Use tabs.'");
    browser.click("#yes");
    press(&mut browser, "resume");
    until_phase(&mut browser, "running");
    browser.wait_for_text("I work on the second thing.");
    browser.wait_for_text("Use tabs.");
    browser.wait_for_text("1 of 2");
    let details = "document.querySelector('details[data-key=\"DL-001\"]').open";
    assert_eq!(browser.evaluate(details), true, "it stays open");

    run.kill();
    until_phase(&mut browser, "unfinished");
    let visible =
        "[...document.querySelectorAll('#run-actions button')].filter(it => !it.hidden).length";
    assert_eq!(browser.evaluate(visible), 0);

    // The resumed run repeats its second session, so the first script is not played.
    let second = Script::new().plans(&["DL-001", "DL-002"]).session([
        sets("DL-002", "passed"),
        text_step("I am back."),
        waits_for_file(&finish),
        ends(),
    ]);
    let command = scripted_command(&project, &second, &["run"]);
    let run = RunningCommand::until_journal_has(command, &project, "run_resumed");
    until_phase(&mut browser, "running");
    browser.wait_for_text("I am back.");
    browser.wait_for_text("2 of 2");
    project.write("../finish", "");
    until_phase(&mut browser, "done");

    assert_eq!(run.end().0, Some(0));
    assert_eq!(
        browser.evaluate("window.mark"),
        1,
        "it was not loaded again"
    );
    assert_eq!(browser.logged_errors(), Vec::<&serde_json::Value>::new());
}

#[test]
fn a_stop_ends_the_run_as_an_interrupt_does() {
    let project = Project::new();
    let never = project.sibling_path("never");
    let script = Script::new().session([creates(&["DL-001"]), waits_for_file(&never), ends()]);
    let command = scripted_command(&project, &script, &["run"]);
    let run = RunningCommand::until_journal_has(command, &project, "DL-001");
    let (_server, address) = serve(&project);
    let mut browser = Chromium::start();
    browser.open(&address);

    press(&mut browser, "stop");
    browser.wait_until("ask.open");
    browser.click("#yes");

    assert_eq!(run.end().0, Some(130));
    until_phase(&mut browser, "stopped");
    assert!(!project.path(".autonoe/live.json").exists());
}

#[test]
fn a_question_does_not_continue_an_interrupted_run() {
    let project = Project::new();
    let script = Script::new().plans(&["DL-001"]).session([hangs()]);
    let command = scripted_command(&project, &script, &["run"]);
    RunningCommand::until_journal_has(command, &project, "\"number\":2").kill();
    let live = project.path(".autonoe/live.json");
    let left_by_run = fs::read(&live).ok();
    let released = project.sibling_path("released");
    let steps = [
        json!({"writes": {"path": "notes.txt", "text": "working"}}),
        waits_for_file(&released),
        text_step("It is a typo."),
        ends(),
    ];
    let script = json!({"sessions": [{"name": "answer", "instruction": "ask", "steps": steps}]});
    project.write("../answers.json", &script.to_string());
    let mut command = autonoe(&project, &["ask", "why?"]);
    let answers = project.sibling_path("answers.json");
    command.arg(format!("--backend=scripted:{}", answers.display()));
    let question = RunningCommand::until_file_has(command, &project.path("notes.txt"), "working");

    let found = autonoe_core::Project::find(&project.root(), None).expect("it is there");
    let held = RunLock::held(&found).expect("readable").expect("a holder");
    let holder = held.holder.expect("the question");
    let (run, now) = (RunId::new("run"), jiff::Timestamp::now());
    let requests = RequestFolder::new(&found);
    let sent = requests.send(&holder, &run, OperatorRequest::Stop, now);
    sent.expect("writable");
    let (_server, address) = serve(&project);
    let mut browser = Chromium::start();
    browser.open(&address);
    until_phase(&mut browser, "unfinished");
    let visible =
        "[...document.querySelectorAll('#run-actions button')].filter(it => !it.hidden).length";
    assert_eq!(browser.evaluate(visible), 0);
    assert_eq!(fs::read(&live).ok(), left_by_run);
    project.write("../released", "");

    let (code, written) = question.end();
    assert_eq!(code, Some(0), "{written}");
    assert!(written.contains("It is a typo."), "{written}");
    assert_eq!(requests.pending().expect("readable").len(), 1);
}

#[test]
fn a_server_beyond_this_machine_warns_and_checks_the_host() {
    let project = Project::new();
    let arguments = ["serve", "--listen=0.0.0.0", "--host=watch.example"];
    let mut command = autonoe(&project, &arguments);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = Server(command.spawn().expect("it starts"));
    let notes = BufReader::new(server.0.stderr.take().expect("it is piped"));
    let output = server.0.stdout.take().expect("it is piped");
    let mut address = String::new();
    let read = BufReader::new(output).read_line(&mut address);
    read.expect("it prints its address");

    let mut notes = notes.lines().map_while(Result::ok);
    let warning = notes.find(|line| line.starts_with("warning: "));
    let warning = warning.expect("a warning");
    assert!(
        warning.contains("the connection is not encrypted"),
        "{warning}"
    );
    let rest = address.trim().strip_prefix("http://watch.example:");
    let (port, token) = rest
        .and_then(|rest| rest.split_once("/?token="))
        .expect("the name, a port and a token");
    for (host, expected) in [
        ("watch.example", "HTTP/1.1 200 "),
        ("localhost", "HTTP/1.1 200 "),
        ("evil.example", "HTTP/1.1 403 "),
    ] {
        let request = format!(
            "GET /api/run HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n"
        );
        let connection = TcpStream::connect(format!("127.0.0.1:{port}"));
        let mut connection = connection.expect("it listens");
        connection.write_all(request.as_bytes()).expect("it reads");
        let mut response = String::new();
        connection
            .read_to_string(&mut response)
            .expect("it answers");
        assert!(response.starts_with(expected), "{host}: {response}");
    }
}

#[test]
fn a_server_on_this_machine_has_no_other_names_and_no_warning() {
    let project = Project::new();

    let refused = autonoe(&project, &["serve", "--host=watch.example"]).output();
    let mut command = autonoe(&project, &["serve"]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = Server(command.spawn().expect("it starts"));
    let mut notes = BufReader::new(server.0.stderr.take().expect("it is piped"));
    let mut first = String::new();
    notes.read_line(&mut first).expect("a note");
    let process = rustix::process::Pid::from_child(&server.0);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it is ours");
    let mut rest = String::new();
    notes.read_to_string(&mut rest).expect("text");

    let refused = refused.expect("it starts");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{message}");
    assert!(message.contains("--host needs --listen"), "{message}");
    assert!(first.contains("press Ctrl-C"), "{first}");
    assert_eq!(rest, "");
}

#[test]
fn text_of_agents_stays_text() {
    let project = Project::new();
    let evil =
        "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
    let never = project.sibling_path("never");
    let script = Script::new().session([
        creates(&["DL-001"]),
        text_step(evil),
        waits_for_file(&never),
        ends(),
    ]);
    let command = scripted_command(&project, &script, &["run"]);
    let run = RunningCommand::until_journal_has(command, &project, "DL-001");
    let (_server, address) = serve(&project);
    let mut browser = Chromium::start();

    browser.open(&address);
    browser.wait_for_text("<script>document.title='owned'</script>");

    assert_eq!(browser.evaluate("document.images.length"), 0);
    assert_eq!(browser.evaluate("document.scripts.length"), 1);
    assert_eq!(browser.logged_errors(), Vec::<&serde_json::Value>::new());
    run.kill();
}

#[test]
fn few_and_many_deliverables_fit_on_a_phone_and_on_a_desk() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve");
    std::fs::create_dir_all(&folder).expect("writable");
    for count in [1, 30, 500] {
        let project = Project::new();
        let never = project.sibling_path("never");
        let ids: Vec<String> = (1..=count).map(|n| format!("DL-{n:03}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let script = Script::new().plans(&ids).session([
            sets("DL-001", "passed"),
            text_step("I write the code of the next deliverable."),
            waits_for_file(&never),
            ends(),
        ]);
        let command = scripted_command(&project, &script, &["run"]);
        let run = RunningCommand::until_journal_has(command, &project, "passed");
        let (_server, address) = serve(&project);
        let mut browser = Chromium::start();
        browser.open(&address);
        browser.wait_for_text(&format!("1 of {count}"));
        for scheme in ["light", "dark"] {
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            browser.call("Emulation.setEmulatedMedia", &media);
            for width in [400, 1280] {
                let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1,
                    "mobile": false});
                browser.call("Emulation.setDeviceMetricsOverride", &size);
                thread::sleep(Duration::from_millis(200));
                let wider =
                    "document.documentElement.scrollWidth > document.documentElement.clientWidth";
                assert_eq!(browser.evaluate(wider), false, "{count} {scheme} {width}");
                let answer = browser.call("Page.captureScreenshot", &json!({"format": "png"}));
                let encoded = answer["data"].as_str().expect("a picture");
                let shot = base64::engine::general_purpose::STANDARD.decode(encoded);
                let file = folder.join(format!("{count}-{scheme}-{width}.png"));
                std::fs::write(file, shot.expect("base64")).expect("writable");
            }
        }
        run.kill();
    }
}

#[test]
fn an_unknown_fleet_is_wrong_usage() {
    let project = Project::new();

    let refused = autonoe(&project, &["serve", "-f", "nope"]).output();

    let refused = refused.expect("it starts");
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("unknown fleet \"nope\""), "{stderr}");
}
