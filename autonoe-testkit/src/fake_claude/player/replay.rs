//! A recorded conversation, played again.

use std::collections::HashMap;

use serde_json::Value;

use super::{Player, Stop};
use crate::fake_claude::Start;
use crate::fake_claude::recording::{Recording, Spoken, Step};

impl Player<'_> {
    /// Plays a conversation until the program ends; returns its exit code.
    pub(in crate::fake_claude) fn replay(&mut self, recording: &Recording) -> u8 {
        let Err(stop) = self.follow(recording) else {
            return recording.exit_code;
        };
        match self.end(&stop) {
            // The host ended it, as it did then.
            0 => recording.exit_code,
            code => code,
        }
    }

    fn follow(&mut self, recording: &Recording) -> Result<(), Stop> {
        self.begin()?;
        let mut talk = Talk {
            greets_servers: recording.has_messages_to_servers(),
            ..Talk::default()
        };
        for step in &recording.steps {
            match step {
                Step::Host(line) => self.expect(line, &mut talk)?,
                Step::Program(line) => self.repeat(line, &mut talk)?,
            }
        }
        // What could not start ends by itself; others wait for their host.
        match talk.is_started {
            true => loop {
                self.pump(None)?;
            },
            false => Ok(()),
        }
    }

    /// Waits until the host of today says what the host of then said.
    fn expect(&mut self, line: &Value, talk: &mut Talk) -> Result<(), Stop> {
        let id = || line["request_id"].as_str().unwrap_or_default().to_owned();
        match line["type"].as_str() {
            Some("user") => {
                self.note_wait("prompt");
                self.wait_until(|it| it.host.prompts > 0)?;
                self.host.prompts -= 1;
                self.is_working = true;
                match talk.greets_servers {
                    true => Ok(()),
                    // There was none to greet then; today there may be one.
                    false => self.meet_servers(),
                }
            }
            Some("control_request") => {
                let subtype = line["request"]["subtype"].as_str().unwrap_or_default();
                if !matches!(subtype, "initialize" | "interrupt") {
                    // The hosts of today do not ask for it.
                    return Ok(());
                }
                self.note_wait(subtype);
                let has_asked = |it: &Self| {
                    let mut requests = it.host.requests.iter();
                    requests.any(|(_, request)| request["subtype"] == subtype)
                };
                self.wait_until(has_asked)?;
                if let Some((today, request)) = self.host.take_request(subtype) {
                    if subtype == "initialize" {
                        self.die_at(Start::AtInitialize)?;
                        self.host.introduce(&request, &self.asked.servers);
                    }
                    talk.requests.insert(id(), today);
                }
                Ok(())
            }
            Some("control_response") => {
                let asked = line["response"]["request_id"].as_str().unwrap_or_default();
                if !talk.questions.contains(&asked.to_owned()) {
                    return Ok(());
                }
                self.wait_until(|it| it.host.answers.contains_key(asked) || it.host.is_gone)?;
                self.learn_from(asked);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Says again what the program said then.
    fn repeat(&mut self, spoken: &Spoken, talk: &mut Talk) -> Result<(), Stop> {
        let mut line = spoken.value.clone();
        match line["type"].as_str() {
            Some("control_response") => {
                let then = line["response"]["request_id"].as_str().unwrap_or_default();
                let Some(today) = talk.requests.remove(then) else {
                    return Ok(());
                };
                talk.is_started = true;
                self.respond(line, &today)?;
                return self.die_at(Start::AfterInitialize);
            }
            Some("control_request") => {
                if !self.fit_question(&mut line) {
                    return Ok(());
                }
                let id = line["request_id"].as_str().unwrap_or_default();
                talk.questions.push(id.to_owned());
            }
            Some("system") if line["subtype"] == "init" => {
                self.is_working = true;
                self.fit_init(&mut line);
            }
            Some("result") => {
                self.is_working = false;
                self.spent.has_failed = line["is_error"] == true;
            }
            _ => {}
        }
        if self.asked.session.is_some() && line.get("session_id").is_some() {
            line["session_id"] = self.session.as_str().into();
        }
        match &spoken.raw {
            None => self.say(&line),
            // It cannot be made to fit, and need not.
            Some(raw) => {
                self.out.note("out", &line);
                self.out.bytes(format!("{raw}\n").as_bytes());
                Ok(())
            }
        }
    }

    /// Makes a question fit the host of today; tells whether it would be asked.
    fn fit_question(&self, line: &mut Value) -> bool {
        let request = &mut line["request"];
        match request["subtype"].as_str() {
            Some("hook_callback") => {
                let tool = request["input"]["tool_name"].as_str().unwrap_or_default();
                let is_ours = request["input"]["hook_event_name"] == "PreToolUse";
                let hook = self.host.hooks.iter().find(|hook| hook.matches(tool));
                match hook {
                    Some(hook) if is_ours => {
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

    /// Learns the tools of the host, if that is what it answered.
    fn learn_from(&mut self, request: &str) {
        let answer = self.host.answers.remove(request).unwrap_or_default();
        let tools = &answer["response"]["mcp_response"]["result"]["tools"];
        for server in self.host.servers.clone() {
            self.host.learn(&server, tools);
        }
    }

    fn note_wait(&mut self, what: &str) {
        self.out.note("note", &format!("waits for {what}").into());
    }
}

/// What was said in a conversation that is played.
#[derive(Default)]
struct Talk {
    /// Ids that requests of the host have today, by those that they had then.
    requests: HashMap<String, String>,
    /// Questions that were asked again.
    questions: Vec<String>,
    /// The program has answered its host.
    is_started: bool,
    /// The conversation has the talk with the host's MCP servers.
    greets_servers: bool,
}
