//! The course of a fleet, from its start to its report.

mod asking;
mod deadlines;
mod ending;
mod ordering;
mod step;
mod timing;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use autonoe_core::{RunId, RunInstruction, RunProgress};
use jiff::Timestamp;

use self::deadlines::Deadlines;
pub use self::step::FleetStep;
use super::outcome::spent_by;
use super::purse::Purse;
use super::{CoordinationError, CutShort, FleetEvent, FleetEventKind, MemberSpec, StrategyRun};
use crate::{Accounts, Allowance, Fleet, HarnessId, Order};

/// The course of a fleet as a value: it says what is to be done next, and is told what came of it.
///
/// It starts nothing, waits for nobody and has no clock, so that whatever can carry out runs can
/// carry out a fleet, and the same words give the same course: a [`Coordinator`](super::Coordinator)
/// does so on an engine, a workflow on a cluster. Who carries it out asks for the
/// [`next`](Self::next) step, does it, tells what it came to, and asks again.
///
/// ```
/// use autonoe_core::RunOutcome;
/// use autonoe_harness::{FleetCourse, FleetStep, HarnessId, MemberSpec, Race, StrategyRun};
/// use jiff::Timestamp;
/// use serde_json::json;
///
/// let member = |name: &str| MemberSpec::new(HarnessId::new(name), "say", json!("done"));
/// let race = StrategyRun::new(Race {}).members([member("claude")]);
/// let now = Timestamp::UNIX_EPOCH;
/// let mut course = FleetCourse::new("login-page", race, now)?;
///
/// let FleetStep::Start { member, run, .. } = course.next(now) else { panic!() };
/// assert_eq!(run.id.as_str(), "login-page.claude");
/// assert_eq!(course.began(now, &member), []);
/// assert!(matches!(course.next(now), FleetStep::Wait { .. }));
/// course.ended(now, [(member, Ok(RunOutcome::succeeded(json!("done"))))]);
///
/// let FleetStep::Finish(report) = course.next(now) else { panic!() };
/// assert!(report.result.success);
/// # Ok::<(), autonoe_harness::CoordinationError>(())
/// ```
#[derive(Debug)]
pub struct FleetCourse {
    name: String,
    what: StrategyRun,
    /// Where each member stands among those of the run.
    places: HashMap<HarnessId, usize>,
    fleet: Fleet,
    purse: Purse,
    deadlines: Deadlines,
    /// When the time of the fleet is up.
    deadline: Timestamp,
    phase: Phase,
    /// Members whose runs may not be there yet, and what they are to be told as soon as they are.
    starting: HashMap<HarnessId, Vec<RunInstruction>>,
    /// What the strategy ordered and was not looked at yet.
    orders: VecDeque<Order>,
    /// The first order since the strategy was asked that cannot be paid.
    unpaid_now: Option<CutShort>,
    /// Who is to be stopped, and why.
    stops: VecDeque<(HarnessId, String)>,
    cut_short: Option<CutShort>,
    /// Since when nobody is started.
    paused_since: Option<Timestamp>,
    /// Members whose time was up, and how that is said.
    timed_out: HashMap<HarnessId, String>,
    /// Members of whom it was told that they wait for money.
    unpaid: Vec<HarnessId>,
    left_behind: Vec<HarnessId>,
    events: Vec<FleetEvent>,
}

/// What a fleet is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Something has changed, and the strategy is to be asked.
    Asking,
    /// The strategy's orders are carried out.
    Ordering,
    /// There is nothing to do until something happens.
    Waiting,
}

impl FleetCourse {
    /// Begins the course of the fleet `name`, which has letters, digits, `-` and `_`.
    ///
    /// # Errors
    ///
    /// [`CoordinationError::FleetName`].
    pub fn new(
        name: impl Into<String>,
        what: StrategyRun,
        now: Timestamp,
    ) -> Result<Self, CoordinationError> {
        let name = name.into();
        let accounts = Accounts::new(name.clone(), what.budget);
        Self::paid_from(accounts, name.clone(), name, what, now)
    }

    /// Begins the course of a fleet that is paid from one of `accounts`.
    pub(super) fn paid_from(
        accounts: Accounts,
        account: String,
        name: String,
        what: StrategyRun,
        now: Timestamp,
    ) -> Result<Self, CoordinationError> {
        let may_be_in = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        // A dot would make two fleets share a run.
        if name.is_empty() || !name.chars().all(may_be_in) {
            return Err(CoordinationError::FleetName(name));
        }
        if accounts.free(&account).is_err() {
            return Err(CoordinationError::NoAccount(account));
        }
        let mut places = HashMap::new();
        for (place, spec) in what.members.iter().enumerate() {
            places.entry(spec.id.clone()).or_insert(place);
        }
        let fleet = Fleet::new(what.members.iter().map(|spec| spec.id.clone()));
        let mut course = Self {
            name,
            places,
            purse: Purse::new(accounts, account),
            deadlines: Deadlines::default(),
            deadline: after(now, what.time),
            phase: Phase::Asking,
            starting: HashMap::new(),
            orders: VecDeque::new(),
            unpaid_now: None,
            stops: VecDeque::new(),
            cut_short: None,
            paused_since: None,
            timed_out: HashMap::new(),
            unpaid: Vec::new(),
            left_behind: Vec::new(),
            events: Vec::new(),
            fleet,
            what,
        };
        let members = course.fleet.members().iter();
        let members = members.map(|member| member.id.clone()).collect();
        let strategy = course.what.strategy.typetag_name().to_owned();
        course.tell(now, FleetEventKind::Began { strategy, members });
        Ok(course)
    }

    /// Says what is to be done now. After [`FleetStep::Finish`] nothing is.
    pub fn next(&mut self, now: Timestamp) -> FleetStep {
        if self.phase == Phase::Waiting {
            self.take_time(now);
        }
        loop {
            if let Some((member, why)) = self.stops.pop_front() {
                match self.stop(now, member, why) {
                    Some(step) => return step,
                    None => continue,
                }
            }
            let step = match self.phase {
                _ if self.cut_short.is_some() => Some(self.end_of_what_was_cut(now)),
                Phase::Asking => {
                    self.ask_the_strategy();
                    None
                }
                Phase::Ordering => self.next_order(now),
                Phase::Waiting => Some(self.wait()),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Returns what has happened since it was asked last, for observers.
    pub fn take_events(&mut self) -> Vec<FleetEvent> {
        std::mem::take(&mut self.events)
    }

    /// Returns how the members stand.
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// Tells whether it ends before its strategy is done.
    pub fn is_cut_short(&self) -> bool {
        self.cut_short.is_some()
    }

    /// Tells whether members are held.
    pub fn is_paused(&self) -> bool {
        self.paused_since.is_some()
    }

    /// Returns how far the fleet is: how many of its members have ended, and what they spent.
    pub fn progress(&self) -> RunProgress {
        let all = self.fleet.members().len().max(1);
        let mut at = RunProgress::of(self.fleet.results().count() as f64 / all as f64);
        at.spent = spent_by(self.fleet.results());
        at
    }

    /// Returns the run of a member.
    pub fn run_of(&self, member: &HarnessId) -> RunId {
        RunId::new(format!("{}.{member}", self.name))
    }

    fn spec(&self, member: &HarnessId) -> Option<&MemberSpec> {
        self.what.members.get(*self.places.get(member)?)
    }

    /// Returns what a member's account is called and has.
    fn account(&self, member: &HarnessId) -> (RunId, Allowance) {
        let allowance = self.spec(member).map(|spec| spec.allowance);
        (self.run_of(member), allowance.unwrap_or_default())
    }

    fn tell(&mut self, at: Timestamp, kind: FleetEventKind) {
        self.events.push(FleetEvent {
            fleet: self.name.clone(),
            at,
            kind,
        });
    }
}

fn after(now: Timestamp, time: Duration) -> Timestamp {
    now.checked_add(time).unwrap_or(Timestamp::MAX)
}
