//! [`InstructionLog`]: the instructions of a run, as its workflow stores them.

use autonoe_core::engine::RunInstruction;

/// The instructions of a run in order, and whether the run still accepts them.
#[derive(Debug, Default)]
pub(crate) struct InstructionLog {
    instructions: Vec<RunInstruction>,
    is_closed: bool,
}

impl InstructionLog {
    pub(crate) fn push(&mut self, instruction: RunInstruction) {
        self.instructions.push(instruction);
    }

    /// Marks the run as ended. There will be no more instructions.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Returns whether a reader of `read` instructions can be answered: there are more, or there
    /// will never be any.
    pub(crate) fn can_answer(&self, read: usize) -> bool {
        self.is_closed || self.instructions.len() > read
    }

    /// Returns the instructions after the first `read`.
    pub(crate) fn after(&self, read: usize) -> Vec<RunInstruction> {
        self.instructions.get(read..).unwrap_or_default().to_vec()
    }

    pub(crate) fn is_paused(&self) -> bool {
        let last = self
            .instructions
            .iter()
            .rev()
            .find_map(|instruction| match instruction {
                RunInstruction::Pause => Some(true),
                RunInstruction::Resume => Some(false),
                RunInstruction::Message(_) => None,
            });
        last.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> RunInstruction {
        RunInstruction::Message(text.to_owned())
    }

    #[test]
    fn reader_gets_entries_after_its_cursor() {
        let mut log = InstructionLog::default();
        log.push(message("one"));
        log.push(message("two"));

        assert!(log.can_answer(1) && !log.can_answer(2));
        assert_eq!(log.after(1), [message("two")]);
        assert_eq!(log.after(7), []);
    }

    #[test]
    fn the_last_of_pause_and_resume_holds() {
        let mut log = InstructionLog::default();
        assert!(!log.is_paused());

        log.push(RunInstruction::Pause);
        log.push(message("one"));
        assert!(log.is_paused());
        log.push(RunInstruction::Resume);

        assert!(!log.is_paused());
    }

    #[test]
    fn waiting_reader_is_released_at_the_end() {
        let mut log = InstructionLog::default();

        log.close();

        assert!(log.can_answer(0));
        assert_eq!(log.after(0), []);
    }
}
