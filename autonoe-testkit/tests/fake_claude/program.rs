//! The stand-in program without a backend.

use std::io::{self, Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use autonoe_testkit::fake_claude::{
    Build, Env, FakeScript, FaultTrigger, PlayedContent, ProgramFault, ReceivedSignal, TurnFault,
    play,
};
use serde_json::{Value, json};

/// Maximum time that a test waits for the program.
const DEADLINE: Duration = Duration::from_secs(120);

/// A program on its own thread, with the test as its host.
struct Program {
    stdin: Option<io::PipeWriter>,
    signals: mpsc::Sender<ReceivedSignal>,
    output: mpsc::Receiver<Value>,
    ended: mpsc::Receiver<(u8, String)>,
}

impl Program {
    fn start(script: FakeScript, args: &[&str]) -> Self {
        let (input, stdin) = io::pipe().expect("a pipe");
        let (output, mut stdout) = io::pipe().expect("a pipe");
        let (signals, got) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let mut place = Env::new(args.iter().map(|arg| (*arg).to_owned()), "/");
        place.signals = Some(got);
        std::thread::spawn(move || {
            let mut stderr = Vec::new();
            let code = play(&script, place, input, &mut stdout, &mut stderr);
            drop(stdout);
            let _ = end.send((code, String::from_utf8_lossy(&stderr).into_owned()));
        });
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || read_lines(output, &sender));
        Self {
            stdin: Some(stdin),
            signals,
            output: messages,
            ended,
        }
    }

    /// Starts a program that works on its first turn.
    fn working(script: FakeScript) -> Self {
        let mut program = Self::start(script, &["--permission-mode=bypassPermissions"]);
        program.initialize();
        program.prompt();
        program.wait_for("system", "init");
        program
    }

    fn send(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().expect("open");
        writeln!(stdin, "{line}").expect("it listens");
    }

    fn send_request(&mut self, id: &str, request: &Value) {
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    fn initialize(&mut self) {
        self.send_request("1", &json!({"subtype": "initialize"}));
        self.answer("1");
    }

    fn prompt(&mut self) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": "go"}}));
    }

    fn next(&self) -> Value {
        let line = self.output.recv_timeout(DEADLINE);
        line.expect("it says something")
    }

    /// Waits for a line of this type and subtype.
    fn wait_for(&self, kind: &str, subtype: &str) -> Value {
        loop {
            let line = self.next();
            if line["type"] == kind && (subtype.is_empty() || line["subtype"] == subtype) {
                return line;
            }
        }
    }

    fn answer(&self, id: &str) -> Value {
        loop {
            let line = self.wait_for("control_response", "");
            if line["response"]["request_id"] == id {
                return line["response"].clone();
            }
        }
    }

    fn end(&self) -> (u8, String) {
        let ended = self.ended.recv_timeout(DEADLINE);
        ended.expect("it ends")
    }

    fn is_alive(&self) -> bool {
        self.ended.recv_timeout(Duration::from_millis(100)).is_err()
    }
}

fn read_lines(mut output: io::PipeReader, sender: &mpsc::Sender<Value>) {
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = output.read(&mut chunk) {
        text.extend_from_slice(&chunk[..count]);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            if let Ok(line) = serde_json::from_slice(&line) {
                let _ = sender.send(line);
            }
        }
    }
}

/// A script in which the agent sends one text and then stops responding.
fn silent() -> FakeScript {
    FakeScript::says(["Hello.", "Never."]).with_fault(ProgramFault::At {
        trigger: FaultTrigger::Texts(1),
        turn_fault: TurnFault::Silence,
    })
}

#[test]
fn prints_its_version() {
    for build in Build::ALL {
        let script = FakeScript::says(["Hello."]).build(build);
        let mut messages = Vec::new();
        let place = Env::new(["-v".to_owned()], "/");

        let code = play(&script, place, io::empty(), &mut messages, &mut Vec::new());

        let version = format!("{} (Claude Code)\n", build.version());
        assert_eq!((code, messages), (0, version.into_bytes()));
    }
}

#[test]
fn the_end_of_its_input_ends_it_when_it_is_idle() {
    let mut program = Program::working(FakeScript::says(["Hello."]));
    program.wait_for("result", "");

    program.stdin = None;

    assert_eq!(program.end(), (0, String::new()));
}

#[test]
fn a_prompt_without_an_answer_ends_it() {
    let mut program = Program::working(FakeScript::says(["Hello."]));
    program.wait_for("result", "");

    program.prompt();

    let (code, complaint) = program.end();
    assert_eq!(code, 70);
    assert!(
        complaint.contains("no answer to this prompt"),
        "{complaint}"
    );
}

#[test]
fn signals_end_it_as_they_end_the_real_one() {
    for (signal, code) in [
        (ReceivedSignal::Interrupt, 0),
        (ReceivedSignal::Terminate, 143),
        (ReceivedSignal::Hangup, 129),
    ] {
        let program = Program::working(silent());

        program.signals.send(signal).expect("it listens");

        assert_eq!(program.end().0, code, "{signal:?}");
    }
}

#[test]
fn the_end_of_the_session_is_answered() {
    let mut idle = Program::start(FakeScript::says(["Hello."]), &[]);
    idle.initialize();
    idle.send_request("2", &json!({"subtype": "end_session"}));
    assert_eq!(idle.answer("2")["subtype"], "success");
    assert_eq!(idle.end().0, 0);
}

#[test]
fn process_ignoring_shutdown_stays_alive() {
    let mut program = Program::working(silent().with_fault(ProgramFault::IgnoresShutdown));

    program.send_request("2", &json!({"subtype": "end_session"}));
    for signal in [
        ReceivedSignal::Interrupt,
        ReceivedSignal::Terminate,
        ReceivedSignal::Hangup,
    ] {
        program.signals.send(signal).expect("it listens");
    }
    program.stdin = None;

    assert!(program.is_alive());
}

#[test]
fn a_line_that_is_no_json_kills_it() {
    let mut program = Program::start(FakeScript::says(["Hello."]), &[]);
    program.initialize();

    let stdin = program.stdin.as_mut().expect("open");
    stdin.write_all(b"{\"type\":\n").expect("it listens");

    let (code, complaint) = program.end();
    assert_eq!(code, 1);
    assert!(complaint.contains("{\"type\":"), "{complaint}");
}

#[test]
fn fake_claude_reports_its_start_settings() {
    let settings = json!({"sandbox": {"enabled": true}, "permissions": {"deny": ["Edit(./x)"]}});
    let arg = format!("--settings={settings}");
    let mut program = Program::start(FakeScript::says(["Hello."]), &[&arg, "--model=opus"]);
    program.initialize();

    program.send_request("2", &json!({"subtype": "get_settings"}));

    let response = program.answer("2")["response"].clone();
    assert_eq!(response["effective"], settings);
    assert_eq!(response["sources"][0]["settings"], settings);
    assert_eq!(response["applied"]["model"], "opus");
}

#[test]
fn it_refuses_requests_that_it_does_not_know() {
    let mut program = Program::start(FakeScript::says(["Hello."]), &[]);
    program.initialize();

    program.send_request("2", &json!({"subtype": "make_coffee"}));

    let answer = program.answer("2");
    assert_eq!(answer["subtype"], "error");
    assert_eq!(
        answer["error"],
        "Unsupported control request subtype: make_coffee"
    );
}

#[test]
fn script_is_parsed_from_json() {
    let written = json!({
        "build": "2.1.197",
        "plays": {"says": ["Hm."]},
        "faults": ["ignores_shutdown", {"at": {"trigger": {"lines": 3}, "turn_fault": "silence"}}],
    });

    let script: FakeScript = serde_json::from_value(written).expect("a script");

    assert_eq!(script.plays, PlayedContent::Says(vec!["Hm.".into()]));
    let silence = ProgramFault::At {
        trigger: FaultTrigger::Lines(3),
        turn_fault: TurnFault::Silence,
    };
    assert_eq!(script.faults, [ProgramFault::IgnoresShutdown, silence]);
}
