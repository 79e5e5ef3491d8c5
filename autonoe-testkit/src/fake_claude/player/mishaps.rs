//! Lines out, and what goes wrong with them.

use serde_json::{Value, json};

use super::{Player, Stop};
use crate::fake_claude::shape::Shape;
use crate::fake_claude::{Fault, Mishap};

impl Player<'_> {
    /// Sends a line, and lets happen what is to happen after so many lines.
    pub(super) fn say(&mut self, line: &Value) -> Result<(), Stop> {
        if let Some(code) = self.cut.take() {
            let text = line.to_string();
            self.out.note("note", &"the next line is cut".into());
            self.out.bytes(&text.as_bytes()[..text.len() / 2]);
            return Err(Stop::Exit(code));
        }
        self.out.line(line);
        self.written += 1;
        self.go_wrong_if_due()
    }

    /// Lets happen what is to happen after as many lines as were written.
    pub(super) fn go_wrong_if_due(&mut self) -> Result<(), Stop> {
        let written = self.written;
        let due = self.faults.iter().find_map(|fault| match fault {
            Fault::Then { after_lines, what } if *after_lines == written => Some(what.clone()),
            _ => None,
        });
        match due {
            Some(what) => self.go_wrong(&what),
            None => Ok(()),
        }
    }

    /// Lets something go wrong.
    pub(super) fn go_wrong(&mut self, what: &Mishap) -> Result<(), Stop> {
        match what {
            Mishap::Garbage(bytes) => {
                self.out.bytes(bytes);
                self.out.bytes(b"\n");
                Ok(())
            }
            Mishap::UnknownMessages => self.say_unknown(),
            Mishap::UnknownRequest => self.ask_unknown(),
            Mishap::CutLine { code } => {
                self.cut = Some(*code);
                Ok(())
            }
            Mishap::Dies { code, stderr } => {
                if !stderr.is_empty() {
                    self.out.complain(stderr);
                }
                Err(Stop::Exit(*code))
            }
            Mishap::Silence => {
                self.out.note("note", &"silence".into());
                Err(self.fall_silent())
            }
            Mishap::LongLine { bytes } => {
                self.long_line(*bytes);
                Ok(())
            }
            Mishap::Flood { lines } => {
                let mut line = self.shaped(Shape::Text);
                line["message"]["content"][0]["text"] = "again".into();
                let line = format!("{line}\n");
                for _ in 0..*lines {
                    self.out.bytes(line.as_bytes());
                }
                Ok(())
            }
            Mishap::StderrFlood { bytes } => {
                for _ in 0..bytes.div_ceil(1000) {
                    self.out.complain(&"x".repeat(999));
                }
                Ok(())
            }
        }
    }

    /// Says what no build says: types, subtypes and blocks that nobody knows.
    fn say_unknown(&mut self) -> Result<(), Stop> {
        let session = self.session.clone();
        self.say(&json!({"type": "weather_report", "session_id": session, "rain": [1, null]}))?;
        self.say(&json!({"type": "system", "subtype": "weather_report", "session_id": session}))?;
        self.say(&json!({"type": "control_weather_report"}))?;
        self.say(&json!(["no object at all"]))?;
        let mut line = self.shaped(Shape::Text);
        line["message"]["content"][0] = json!({"type": "weather_report", "rain": true});
        self.say(&line)
    }

    fn ask_unknown(&mut self) -> Result<(), Stop> {
        let request = self.fresh_id();
        let asked = json!({"subtype": "weather_report", "place": "here"});
        self.say(&json!({"type": "control_request", "request_id": request, "request": asked}))?;
        self.wait_until(|it| it.host.answers.contains_key(&request) || it.host.is_gone)
    }

    /// Says a text so long that its line has this many bytes.
    fn long_line(&mut self, bytes: usize) {
        let mut line = self.shaped(Shape::Text);
        line["message"]["content"][0]["text"] = "".into();
        let text = line.to_string();
        let (before, after) = text.split_once(r#""text":"""#).unwrap_or((&text, ""));
        let (before, after) = (format!(r#"{before}"text":""#), format!(r#""{after}"#));
        let padding = bytes.saturating_sub(before.len() + after.len() + 1);
        self.out.bytes(before.as_bytes());
        let block = [b'x'; 64 * 1024];
        let mut left = padding;
        while left > 0 {
            let now = left.min(block.len());
            self.out.bytes(&block[..now]);
            left -= now;
        }
        self.out.bytes(after.as_bytes());
        self.out.bytes(b"\n");
    }
}
