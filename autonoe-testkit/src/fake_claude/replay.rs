//! Replays a session to the host.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::Value;

use super::arguments::Arguments;
use super::host::Host;
use super::recording::{Lines, OutputLine, Recording, Step};
use super::streams::{Input, Output, ReceivedSignal};
use super::{FakeScript, FaultTrigger, PlayedContent, ProgramFault, Start};

/// The exit code of a program without a playable script.
pub(super) const CANNOT_PLAY: u8 = 70;

/// The running program.
pub(super) struct Replay<'w> {
    pub(super) lines: Lines,
    pub(super) arguments: Arguments,
    pub(super) faults: Vec<ProgramFault>,
    directory: PathBuf,
    pub(super) output: Output<'w>,
    inputs: Receiver<Input>,
    pub(super) host: Host,
    /// Whether a turn is in progress.
    is_working: bool,
    /// Whether the last turn failed.
    has_failed: bool,
    /// The number of written lines.
    written: usize,
    /// The number of written texts of the agent.
    texts: usize,
    /// The exit code of a crash in the middle of the next line.
    pub(super) cut: Option<u8>,
    ids: u64,
    /// Current ids of the host's requests, by their recorded ids.
    requests: HashMap<String, String>,
    /// Requests that the program repeated.
    repeated: Vec<String>,
    /// Whether the program has answered `initialize`.
    is_initialized: bool,
}

/// The reason why the program stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// A signal ended it.
    Signal(ReceivedSignal),
    /// It exits with this code.
    Exit(u8),
}

impl<'w> Replay<'w> {
    pub(super) fn new(
        script: &FakeScript,
        lines: Lines,
        arguments: Arguments,
        directory: PathBuf,
        mut output: Output<'w>,
        inputs: Receiver<Input>,
    ) -> Self {
        output.pace = script.faults.iter().find_map(|fault| match fault {
            ProgramFault::Slow { chunk, pause_ms } => {
                Some((*chunk, Duration::from_millis(*pause_ms)))
            }
            _ => None,
        });
        Self {
            lines,
            arguments,
            faults: script.faults.clone(),
            directory,
            output,
            inputs,
            host: Host::default(),
            is_working: false,
            has_failed: false,
            written: 0,
            texts: 0,
            cut: None,
            ids: 0,
            requests: HashMap::new(),
            repeated: Vec::new(),
            is_initialized: false,
        }
    }

    /// Plays until the program ends and returns its exit code.
    pub(super) fn play(&mut self, part: &PlayedContent) -> u8 {
        let recording = match part {
            PlayedContent::Says(texts) => Recording::from_texts(&self.lines, texts),
            PlayedContent::Recording(path) => match Recording::load(path) {
                Ok(recording) => recording,
                Err(error) => {
                    let path = path.display();
                    self.output
                        .write_stderr(&format!("fake-claude: {path}: {error}"));
                    return CANNOT_PLAY;
                }
            },
        };
        match self.follow(&recording) {
            // The host ended it, as in the recording.
            Ok(()) | Err(Stop::Exit(0)) => recording.exit_code,
            Err(Stop::Exit(code)) => code,
            Err(Stop::Signal(ReceivedSignal::Interrupt)) => recording.exit_code,
            Err(Stop::Signal(ReceivedSignal::Terminate)) => 143,
            Err(Stop::Signal(ReceivedSignal::Hangup)) => 129,
        }
    }

    fn follow(&mut self, recording: &Recording) -> Result<(), Stop> {
        self.crash_at(Start::AtOnce)?;
        self.inject_at(FaultTrigger::Lines(0))?;
        let greets_servers = recording.has_messages_to_servers();
        for step in &recording.steps {
            match step {
                Step::Host(line) => self.wait_for(line, greets_servers)?,
                Step::Program(line) => self.repeat(line)?,
            }
        }
        // A program that failed to start exits by itself; others wait for their host.
        while self.is_initialized {
            if self.host.prompts > 0 {
                self.output
                    .write_stderr("fake-claude: the script has no answer to this prompt");
                return Err(Stop::Exit(CANNOT_PLAY));
            }
            self.read_input()?;
        }
        Ok(())
    }

    /// Waits until the host sends the line that the recorded host sent.
    fn wait_for(&mut self, line: &Value, greets_servers: bool) -> Result<(), Stop> {
        match line["type"].as_str() {
            Some("user") => {
                self.log_wait("prompt");
                self.wait_until(|it| it.host.prompts > 0 || it.host.is_closed)?;
                if self.host.prompts == 0 && self.may_exit() {
                    return Err(self.exit());
                }
                self.host.prompts = self.host.prompts.saturating_sub(1);
                self.is_working = true;
                if greets_servers {
                    Ok(())
                } else {
                    // The recorded host had no server; this one may have.
                    self.initialize_servers()
                }
            }
            Some("control_request") => {
                let subtype = line["request"]["subtype"].as_str().unwrap_or_default();
                if !matches!(subtype, "initialize" | "interrupt") {
                    // The host under test need not send the others.
                    return Ok(());
                }
                self.log_wait(subtype);
                self.wait_until(|it| {
                    let mut requests = it.host.requests.iter();
                    requests.any(|(_, request)| request["subtype"] == subtype)
                })?;
                if let Some((id, request)) = self.host.take_request(subtype) {
                    if subtype == "initialize" {
                        self.crash_at(Start::AtInitialize)?;
                        self.host.initialize(&request, &self.arguments.servers);
                    }
                    let recorded = line["request_id"].as_str().unwrap_or_default();
                    self.requests.insert(recorded.to_owned(), id);
                }
                Ok(())
            }
            Some("control_response") => {
                let id = line["response"]["request_id"].as_str().unwrap_or_default();
                if !self.repeated.iter().any(|repeated| repeated == id) {
                    return Ok(());
                }
                self.wait_until(|it| it.host.answers.contains_key(id) || it.host.is_closed)?;
                let answer = self.host.answers.remove(id).unwrap_or_default();
                let tools = &answer["response"]["mcp_response"]["result"]["tools"];
                for server in self.host.servers.clone() {
                    self.host.add_tools(&server, tools);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Writes a recorded line of the program again, adapted to the host.
    fn repeat(&mut self, written: &OutputLine) -> Result<(), Stop> {
        let mut line = written.value.clone();
        match line["type"].as_str() {
            Some("control_response") => {
                let recorded = line["response"]["request_id"].as_str().unwrap_or_default();
                let Some(id) = self.requests.remove(recorded) else {
                    return Ok(());
                };
                self.is_initialized = true;
                self.respond(line, &id)?;
                return self.crash_at(Start::AfterInitialize);
            }
            Some("control_request") => {
                if !self.adapt_request(&mut line) {
                    return Ok(());
                }
                let id = line["request_id"].as_str().unwrap_or_default();
                self.repeated.push(id.to_owned());
            }
            Some("system") if line["subtype"] == "init" => {
                self.is_working = true;
                self.adapt_init(&mut line);
            }
            Some("result") => {
                self.is_working = false;
                self.has_failed = line["is_error"] == true;
            }
            _ => {}
        }
        if let Some(session) = &self.arguments.session
            && line.get("session_id").is_some()
        {
            line["session_id"] = session.as_str().into();
        }
        match &written.raw {
            None => self.write(&line),
            // The raw line cannot be adapted, and need not be.
            Some(raw) => {
                self.output.log("out", &line);
                self.output.bytes(format!("{raw}\n").as_bytes());
                Ok(())
            }
        }
    }

    /// Adapts a request to the host; returns whether the program would send it.
    fn adapt_request(&self, line: &mut Value) -> bool {
        let request = &mut line["request"];
        match request["subtype"].as_str() {
            Some("hook_callback") => {
                let tool = request["input"]["tool_name"].as_str().unwrap_or_default();
                let is_before_use = request["input"]["hook_event_name"] == "PreToolUse";
                let hook = self.host.hooks.iter().find(|hook| hook.matches(tool));
                match hook {
                    Some(hook) if is_before_use => {
                        request["callback_id"] = hook.callback.as_str().into();
                        request["input"]["cwd"] = self.directory.to_string_lossy().into();
                        true
                    }
                    _ => false,
                }
            }
            Some("mcp_message") => {
                let server = request["server_name"].as_str().unwrap_or_default();
                self.host.servers.iter().any(|known| known == server)
            }
            _ => true,
        }
    }

    /// Writes a line, and injects the faults that are due after it.
    pub(super) fn write(&mut self, line: &Value) -> Result<(), Stop> {
        if let Some(code) = self.cut.take() {
            let text = line.to_string();
            self.output.log("note", &"the next line is cut".into());
            self.output.bytes(&text.as_bytes()[..text.len() / 2]);
            return Err(Stop::Exit(code));
        }
        self.output.line(line);
        self.written += 1;
        self.inject_at(FaultTrigger::Lines(self.written))?;
        if line["type"] == "assistant" && line["message"]["content"][0]["type"] == "text" {
            self.texts += 1;
            self.inject_at(FaultTrigger::Texts(self.texts))?;
        }
        Ok(())
    }

    /// Waits until `is_so` returns true.
    pub(super) fn wait_until(&mut self, is_so: impl Fn(&Self) -> bool) -> Result<(), Stop> {
        while !is_so(self) {
            self.read_input()?;
        }
        Ok(())
    }

    /// Waits for the next input and handles it.
    fn read_input(&mut self) -> Result<(), Stop> {
        match self.inputs.recv() {
            Ok(Input::Line(line)) => {
                self.output.log("in", &line);
                self.read_line(&line)
            }
            Ok(Input::Broken(line)) => {
                let complaint = format!("Error parsing streaming input line: {line}");
                self.output.write_stderr(&complaint);
                Err(Stop::Exit(1))
            }
            Ok(Input::End) => {
                self.host.is_closed = true;
                if self.is_working || !self.may_exit() {
                    Ok(())
                } else {
                    Err(self.exit())
                }
            }
            Ok(Input::Signal(_)) if !self.may_exit() => Ok(()),
            Ok(Input::Signal(signal)) => Err(Stop::Signal(signal)),
            Err(_) => Err(Stop::Signal(ReceivedSignal::Terminate)),
        }
    }

    fn read_line(&mut self, line: &Value) -> Result<(), Stop> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match line["type"].as_str() {
            Some("user") => self.host.prompts += 1,
            Some("control_response") => {
                let response = line["response"].clone();
                let id = text(&response["request_id"]);
                self.host.answers.insert(id, response);
            }
            Some("control_request") => {
                let id = text(&line["request_id"]);
                return self.answer(id, &line["request"], self.is_working);
            }
            // The real program ignores other messages.
            _ => {}
        }
        Ok(())
    }

    /// Ignores everything except what ends the program.
    pub(super) fn stop_responding(&mut self) -> Stop {
        loop {
            match self.inputs.recv() {
                Ok(Input::Line(line)) if self.may_exit() => {
                    self.output.log("in", &line);
                    if line["request"]["subtype"] == "end_session" {
                        return self.exit();
                    }
                }
                Ok(Input::End) if self.may_exit() => return self.exit(),
                Ok(Input::Signal(signal)) if self.may_exit() => return Stop::Signal(signal),
                Ok(_) => {}
                Err(_) => return Stop::Signal(ReceivedSignal::Terminate),
            }
        }
    }

    pub(super) fn exit(&self) -> Stop {
        Stop::Exit(u8::from(self.has_failed))
    }

    pub(super) fn may_exit(&self) -> bool {
        !self.faults.contains(&ProgramFault::IgnoresShutdown)
    }

    pub(super) fn fresh_id(&mut self) -> String {
        self.ids += 1;
        format!(
            "{:08x}-0000-4000-8000-{:012x}",
            std::process::id(),
            self.ids
        )
    }

    fn log_wait(&mut self, event: &str) {
        self.output
            .log("note", &format!("waits for {event}").into());
    }
}
