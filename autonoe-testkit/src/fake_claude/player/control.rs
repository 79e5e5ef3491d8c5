//! What the host says, and what it is answered at once.

use serde_json::{Value, json};

use super::{Player, Stop};
use crate::fake_claude::inlet::Event;
use crate::fake_claude::shape::Shape;
use crate::fake_claude::{Deviation, Fault, Signal, Start};

impl Player<'_> {
    pub(super) fn take(&mut self, event: Event) -> Result<(), Stop> {
        match event {
            Event::Line(line) => {
                self.out.note("in", &line);
                self.heard(&line)
            }
            Event::Broken(line) => {
                let complaint = format!("Error parsing streaming input line: {line}");
                self.out.complain(&complaint);
                Err(Stop::Exit(1))
            }
            Event::End => {
                self.host.is_gone = true;
                match self.is_working || !self.may_die() {
                    true => Ok(()),
                    false => Err(Stop::Exit(self.exit_code())),
                }
            }
            Event::Signal(_) if !self.may_die() => Ok(()),
            Event::Signal(signal) => Err(Stop::Signal(signal)),
            Event::Ran(ran) => {
                if let Some(open) = self.open.iter_mut().find(|open| open.id == ran.call) {
                    open.ran = Some(ran);
                }
                Ok(())
            }
        }
    }

    fn heard(&mut self, line: &Value) -> Result<(), Stop> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match line["type"].as_str() {
            Some("user") => self.host.prompts += 1,
            Some("control_response") => {
                let response = line["response"].clone();
                let id = text(&response["request_id"]);
                self.host.answers.insert(id, response);
            }
            Some("control_request") => {
                return self.requested(text(&line["request_id"]), &line["request"]);
            }
            // The real one takes no notice of others.
            _ => {}
        }
        Ok(())
    }

    fn requested(&mut self, id: String, request: &Value) -> Result<(), Stop> {
        match request["subtype"].as_str().unwrap_or_default() {
            "initialize" => {
                self.host.requests.push_back((id, request.clone()));
                Ok(())
            }
            "interrupt" if self.is_replaying => {
                self.host.requests.push_back((id, request.clone()));
                Ok(())
            }
            "interrupt" if self.is_working => Err(Stop::Interrupt(id)),
            "interrupt" => self.answer(Shape::Interrupt, &id),
            "end_session" if !self.may_die() => Ok(()),
            "end_session" if self.is_working => Err(Stop::EndSession(id)),
            "end_session" => {
                self.answer(Shape::EndSession, &id)?;
                Err(Stop::Exit(self.exit_code()))
            }
            "get_settings" => self.tell_settings(&id),
            "mcp_status" => self.tell_servers(&id),
            other => {
                let mut line = self.shaped(Shape::Unsupported);
                let error = format!("Unsupported control request subtype: {other}");
                line["response"]["error"] = error.into();
                self.respond(line, &id)
            }
        }
    }

    /// Sends the recorded answer of this kind.
    pub(super) fn answer(&mut self, shape: Shape, id: &str) -> Result<(), Stop> {
        let line = self.shaped(shape);
        self.respond(line, id)
    }

    pub(super) fn respond(&mut self, mut line: Value, id: &str) -> Result<(), Stop> {
        line["response"]["request_id"] = id.into();
        self.say(&line)
    }

    fn tell_settings(&mut self, id: &str) -> Result<(), Stop> {
        let mut line = self.shaped(Shape::Settings);
        let told = &mut line["response"]["response"];
        let dropped = self.deviates(|deviation| match deviation {
            Deviation::NoSettings => Some(()),
            _ => None,
        });
        let settings = match &self.asked.settings {
            Value::Object(_) if dropped.is_none() => self.asked.settings.clone(),
            _ => Value::Null,
        };
        told["effective"] = match settings.is_null() {
            true => json!({}),
            false => settings.clone(),
        };
        told["sources"] = match settings.is_null() {
            true => json!([]),
            false => json!([{"source": "flagSettings", "settings": settings}]),
        };
        if let Some(model) = &self.asked.model {
            told["applied"]["model"] = model.as_str().into();
        }
        self.respond(line, id)
    }

    fn tell_servers(&mut self, id: &str) -> Result<(), Stop> {
        let mut line = self.shaped(Shape::McpStatus);
        let servers = &mut line["response"]["response"]["mcpServers"];
        let pattern = servers[0].clone();
        let told = self.servers_told();
        *servers = told
            .into_iter()
            .map(|(name, status)| {
                let mut server = pattern.clone();
                let prefix = format!("mcp__{name}__");
                let tools = self.host.tools.iter();
                server["tools"] = tools
                    .filter_map(|tool| tool.strip_prefix(&prefix))
                    .map(|tool| json!({"name": tool, "annotations": {}}))
                    .collect();
                server["name"] = name.into();
                server["status"] = status.into();
                server
            })
            .collect();
        self.respond(line, id)
    }

    /// Returns the servers of the host with their states, as they are told.
    pub(super) fn servers_told(&self) -> Vec<(String, String)> {
        let state = self.deviates(|deviation| match deviation {
            Deviation::Servers(state) => Some(Some(state.clone())),
            Deviation::NoServers => Some(None),
            _ => None,
        });
        let servers = self.host.servers.iter().cloned();
        match state {
            Some(None) => Vec::new(),
            Some(Some(state)) => servers.map(|name| (name, state.clone())).collect(),
            None => servers
                .map(|name| {
                    let failed = self.host.failed.contains(&name);
                    let state = if failed { "failed" } else { "connected" };
                    (name, state.to_owned())
                })
                .collect(),
        }
    }

    /// Returns what `pick` finds among the ways in which the program is not as asked.
    pub(super) fn deviates<T>(&self, pick: impl Fn(&Deviation) -> Option<T>) -> Option<T> {
        self.faults.iter().find_map(|fault| match fault {
            Fault::IsNotAsAsked(deviation) => pick(deviation),
            _ => None,
        })
    }

    /// Begins, unless it dies first.
    pub(super) fn begin(&mut self) -> Result<(), Stop> {
        self.die_at(Start::AtOnce)?;
        self.go_wrong_if_due()
    }

    pub(super) fn die_at(&mut self, moment: Start) -> Result<(), Stop> {
        let death = self.faults.iter().find_map(|fault| match fault {
            Fault::DiesAtStart { code, stderr, when } if *when == moment => {
                Some((*code, stderr.clone()))
            }
            _ => None,
        });
        let Some((code, stderr)) = death else {
            return Ok(());
        };
        if !stderr.is_empty() {
            self.out.complain(&stderr);
        }
        Err(Stop::Exit(code))
    }

    /// Says that it cannot start, if that is so.
    pub(super) fn refuse_to_start(&mut self) -> Result<(), Stop> {
        let error = self.faults.iter().find_map(|fault| match fault {
            Fault::CannotStart { error } => Some(error.clone()),
            _ => None,
        });
        let Some(error) = error else {
            return Ok(());
        };
        let mut line = self.shaped(Shape::ResultNotStarted);
        line["errors"] = json!([error]);
        self.say(&line)?;
        Err(Stop::Exit(1))
    }

    /// Takes no notice of anything but what ends the program.
    pub(super) fn fall_silent(&mut self) -> Stop {
        loop {
            match self.events.recv() {
                Ok(Event::Line(line)) if self.may_die() => {
                    self.out.note("in", &line);
                    if line["request"]["subtype"] == "end_session" {
                        return Stop::Exit(self.exit_code());
                    }
                }
                Ok(Event::End) if self.may_die() => return Stop::Exit(self.exit_code()),
                Ok(Event::Signal(signal)) if self.may_die() => return Stop::Signal(signal),
                Ok(_) => {}
                Err(_) => return Stop::Signal(Signal::Terminate),
            }
        }
    }
}
