//! Injects the faults of a script.

use serde_json::json;

use super::recording::Kind;
use super::replay::{Replay, Stop};
use super::{FaultTrigger, ProgramFault, Start, TurnFault};

impl Replay<'_> {
    /// Dies if the script requires it at this moment of the start.
    pub(super) fn crash_at(&mut self, trigger: Start) -> Result<(), Stop> {
        let death = self.faults.iter().find_map(|fault| match fault {
            ProgramFault::DiesAtStart { code, stderr, when } if *when == trigger => {
                Some((*code, stderr.clone()))
            }
            _ => None,
        });
        match death {
            Some((code, stderr)) => self.die(code, &stderr),
            None => Ok(()),
        }
    }

    /// Injects the faults that are due at this moment.
    pub(super) fn inject_at(&mut self, now: FaultTrigger) -> Result<(), Stop> {
        let due: Vec<TurnFault> = self
            .faults
            .iter()
            .filter_map(|fault| match fault {
                ProgramFault::At {
                    trigger,
                    turn_fault,
                } if *trigger == now => Some(turn_fault.clone()),
                _ => None,
            })
            .collect();
        due.iter()
            .try_for_each(|turn_fault| self.inject(turn_fault))
    }

    fn inject(&mut self, turn_fault: &TurnFault) -> Result<(), Stop> {
        match turn_fault {
            TurnFault::Garbage(bytes) => {
                self.output.bytes(bytes);
                self.output.bytes(b"\n");
            }
            TurnFault::UnknownRequest => self.request_unknown()?,
            TurnFault::CutLine { code } => self.cut = Some(*code),
            TurnFault::Dies { code, stderr } => self.die(*code, stderr)?,
            TurnFault::Silence => {
                self.output.log("note", &"silence".into());
                return Err(self.stop_responding());
            }
            TurnFault::LongLine { bytes } => self.write_long_line(*bytes),
            TurnFault::Flood { lines } => {
                let mut line = self.lines.get(Kind::Text);
                line["message"]["content"][0]["text"] = "again".into();
                let line = format!("{line}\n");
                for _ in 0..*lines {
                    self.output.bytes(line.as_bytes());
                }
            }
            TurnFault::StderrFlood { bytes } => {
                for _ in 0..bytes.div_ceil(1000) {
                    self.output.write_stderr(&"x".repeat(999));
                }
            }
        }
        Ok(())
    }

    fn die(&mut self, code: u8, stderr: &str) -> Result<(), Stop> {
        if !stderr.is_empty() {
            self.output.write_stderr(stderr);
        }
        Err(Stop::Exit(code))
    }

    fn request_unknown(&mut self) -> Result<(), Stop> {
        let id = self.fresh_id();
        let request = json!({"subtype": "weather_report", "place": "here"});
        self.write(&json!({"type": "control_request", "request_id": id, "request": request}))?;
        self.wait_until(|it| it.host.answers.contains_key(&id) || it.host.is_closed)
    }

    /// Writes a text that makes its line this many bytes long.
    fn write_long_line(&mut self, bytes: usize) {
        let mut line = self.lines.get(Kind::Text);
        line["message"]["content"][0]["text"] = "".into();
        let line = line.to_string();
        let text = line
            .find(r#""text":"""#)
            .map_or(line.len(), |at| at + r#""text":""#.len());
        let (before, after) = line.split_at(text);

        let padding = bytes.saturating_sub(line.len() + 1);
        self.output.bytes(before.as_bytes());
        let block = [b'x'; 64 * 1024];
        for start in (0..padding).step_by(block.len()) {
            self.output
                .bytes(&block[..block.len().min(padding - start)]);
        }
        self.output.bytes(after.as_bytes());
        self.output.bytes(b"\n");
    }
}
