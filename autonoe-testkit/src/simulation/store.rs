//! Model of a project: lock, epoch, ledger, outcome records and journal, with atomic writes.

use std::collections::BTreeMap;

use autonoe_core::RunReport;
use autonoe_core::ledger::LedgerView;
use autonoe_core::run::{JournalLine, RunFact};
use autonoe_core::time::Epoch;

/// The rules that are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// All rules.
    All,
    /// Writes with an old epoch are accepted.
    NoFence,
    /// The end of a session is not recorded before it is reported.
    NoOutcomeRecord,
}

/// Another host has taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fenced;

/// The project that all hosts share.
///
/// A session's step in the ledger and its outcome record are one write. With two writes, a crash
/// between them would repeat the step, and no rule could repair that.
#[derive(Debug)]
pub struct Store {
    rules: Rules,
    epoch: Epoch,
    /// The time until which the lock is held, in milliseconds.
    locked_until: u64,
    ledger: LedgerView,
    /// The numbers of the sessions that took effect, in order.
    pub(super) effects: Vec<u32>,
    outcomes: BTreeMap<u32, RunFact>,
    /// The journal lines of all hosts, in order.
    pub journal: Vec<JournalLine>,
    /// The report of the finished run.
    pub ended: Option<RunReport>,
    pub(super) refused: u64,
}

impl Store {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rules,
            epoch: Epoch(0),
            locked_until: 0,
            ledger: LedgerView::default(),
            effects: Vec::new(),
            outcomes: BTreeMap::new(),
            journal: Vec::new(),
            ended: None,
            refused: 0,
        }
    }

    /// Returns the ledger.
    pub fn ledger(&self) -> LedgerView {
        self.ledger
    }

    /// Acquires the lock and raises the epoch, unless the lock is held or the run has ended.
    pub fn take_over(&mut self, now: u64, until: u64) -> Option<Epoch> {
        if now < self.locked_until || self.ended.is_some() {
            return None;
        }
        self.locked_until = until;
        self.epoch = self.next_epoch();
        Some(self.epoch)
    }

    /// Returns the epoch of the next takeover, without changing anything.
    pub fn next_epoch(&self) -> Epoch {
        Epoch(self.epoch.0 + 1)
    }

    /// Fences off all epochs before `epoch`.
    ///
    /// # Errors
    ///
    /// If another host has taken over.
    pub fn raise(&mut self, epoch: Epoch) -> Result<(), Fenced> {
        self.fence(epoch)?;
        self.epoch = self.epoch.max(epoch);
        Ok(())
    }

    /// Renews the lock. A host that has lost it gets an error whatever the rules are: the fence
    /// only concerns writes.
    ///
    /// # Errors
    ///
    /// If another host has taken over.
    pub fn renew_lock(&mut self, epoch: Epoch, until: u64) -> Result<(), Fenced> {
        if epoch < self.epoch {
            return Err(Fenced);
        }
        self.locked_until = until;
        Ok(())
    }

    /// Releases the lock of a crashed host, as the system does.
    pub fn release_lock(&mut self, epoch: Epoch) {
        if epoch == self.epoch {
            self.locked_until = 0;
        }
    }

    /// Writes the effect of session `number`, and its outcome record.
    ///
    /// # Errors
    ///
    /// If another host has taken over.
    pub fn end_session(
        &mut self,
        epoch: Epoch,
        number: u32,
        ledger: LedgerView,
        ended: &RunFact,
    ) -> Result<(), Fenced> {
        self.fence(epoch)?;
        self.effects.push(number);
        self.ledger = ledger;
        if self.rules != Rules::NoOutcomeRecord {
            self.outcomes.insert(number, ended.clone());
        }
        Ok(())
    }

    /// Returns the outcome record of session `number`.
    pub fn outcome(&self, number: u32) -> Option<&RunFact> {
        self.outcomes.get(&number)
    }

    /// Appends a line to the journal.
    ///
    /// # Errors
    ///
    /// If another host has taken over.
    pub fn append(&mut self, epoch: Epoch, line: JournalLine) -> Result<(), Fenced> {
        self.fence(epoch)?;
        if let JournalLine::RunEnded { report } = &line {
            self.ended.get_or_insert_with(|| report.clone());
        }
        self.journal.push(line);
        Ok(())
    }

    fn fence(&mut self, epoch: Epoch) -> Result<(), Fenced> {
        if epoch >= self.epoch || self.rules == Rules::NoFence {
            return Ok(());
        }
        self.refused += 1;
        Err(Fenced)
    }
}
