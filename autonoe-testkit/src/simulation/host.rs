//! One of the machines that may work on the run.

/// One of the machines that may work on the run.
#[derive(Debug, Default)]
pub struct Host<H> {
    /// Counts the starts; what an earlier life had in mind is gone.
    pub life: u32,
    /// An earlier life whose agent lives on after the crash.
    pub orphan: Option<u32>,
    pub(super) down: bool,
    pub(super) asleep_until: u64,
    /// Until when it cannot reach the store.
    pub(super) cut_off_until: u64,
    /// What it has in its hands.
    pub hands: H,
}

impl<H> Host<H> {
    /// Tells whether it is not down.
    pub fn is_up(&self) -> bool {
        !self.down
    }

    /// Tells whether what `life` began is still there.
    pub fn lives(&self, life: u32) -> bool {
        !self.down && self.life == life
    }

    /// Tells whether the agent that `life` started is still there.
    pub fn agent_lives(&self, life: u32) -> bool {
        self.lives(life) || self.orphan == Some(life)
    }
}
