//! What a workflow remembers of what its run was told.

use autonoe_core::RunInstruction;

/// What a run was told, in order, and whether it is still there to be told.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    told: Vec<RunInstruction>,
    is_closed: bool,
}

impl Standing {
    pub(crate) fn tell(&mut self, instruction: RunInstruction) {
        self.told.push(instruction);
    }

    /// Notes that nobody reads any more.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Tells whether there is an answer to who has read so many: more, or that nothing will come.
    pub(crate) fn has_news(&self, read: usize) -> bool {
        self.is_closed || self.told.len() > read
    }

    /// Returns what follows on the first `read`.
    pub(crate) fn after(&self, read: usize) -> Vec<RunInstruction> {
        self.told.get(read..).unwrap_or_default().to_vec()
    }

    pub(crate) fn is_paused(&self) -> bool {
        let last = self.told.iter().rev().find_map(|told| match told {
            RunInstruction::Pause => Some(true),
            RunInstruction::Resume => Some(false),
            RunInstruction::Say(_) => None,
        });
        last.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(text: &str) -> RunInstruction {
        RunInstruction::Say(text.to_owned())
    }

    #[test]
    fn who_has_read_some_is_told_the_rest() {
        let mut standing = Standing::default();
        standing.tell(say("one"));
        standing.tell(say("two"));

        assert!(standing.has_news(1) && !standing.has_news(2));
        assert_eq!(standing.after(1), [say("two")]);
        assert_eq!(standing.after(7), []);
    }

    #[test]
    fn the_last_of_pause_and_resume_holds() {
        let mut standing = Standing::default();
        assert!(!standing.is_paused());

        standing.tell(RunInstruction::Pause);
        standing.tell(say("one"));
        assert!(standing.is_paused());
        standing.tell(RunInstruction::Resume);

        assert!(!standing.is_paused());
    }

    #[test]
    fn who_waits_for_more_is_not_kept_after_the_end() {
        let mut standing = Standing::default();

        standing.close();

        assert!(standing.has_news(0));
        assert_eq!(standing.after(0), []);
    }
}
