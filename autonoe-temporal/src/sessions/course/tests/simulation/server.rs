//! The server: it keeps the history, gives out tasks and knows who is silent.

use autonoe_core::{Failure, RunInstruction, SessionEnd};
use autonoe_testkit::simulation::Violation;

use super::super::super::super::calls::SessionAnswer;
use super::super::super::{Came, Lost, OnHost, Step};
use super::cluster::{Activity, Event, Hosts, Task, What};
use super::ends;

/// After how long without a word a worker counts as dead, in milliseconds.
const HEARTBEAT: u64 = 15_000;

impl Activity {
    pub(super) fn task(&self) -> Task {
        Task {
            id: self.id,
            attempt: self.attempt,
        }
    }
}

/// Tells whether the server is away now, and until when.
pub(super) fn away_until(world: &Hosts) -> Option<u64> {
    let is_now = |(from, until): &&(u64, u64)| (*from..*until).contains(&world.now);
    let outage = world.driver.outages.iter().find(is_now);
    outage.map(|(_, until)| *until)
}

/// Lets something happen to the server, or later if it is away.
pub(super) fn happen(world: &mut Hosts, event: Event) {
    if let Some(until) = away_until(world) {
        // Who cannot report gives up after a while.
        let is_report = matches!(event, Event::Done { .. });
        if !(is_report && world.random.happens(50)) {
            let at = until + world.random.between(0, 2000);
            world.plan_elsewhere(at, event);
        }
        return;
    }
    match event {
        Event::Done { task, came } => done(world, task, *came),
        Event::Untaken(task) => untaken(world, task),
        Event::Silent(task) => silent(world, task),
        Event::TooLong(id) => too_long(world, id),
        Event::TimeIsUp(timer) => {
            if world.driver.timer == Some(timer) {
                world.driver.timer = None;
                came(world, Came::TimeIsUp);
            }
        }
        Event::Told(told) => self::told(world, told),
        Event::Cancelled => cancelled(world),
        other => unreachable!("{other:?} happens to a worker"),
    }
}

fn told(world: &mut Hosts, told: RunInstruction) {
    if world.store.ended.is_some() {
        return;
    }
    if let RunInstruction::Say(text) = &told {
        world.driver.said.push(text.clone());
    }
    let at = world.at();
    world.driver.history.came(at, Came::Told(told));
    if world.driver.activity.is_none() && world.driver.timer.is_none() {
        decide(world);
    }
}

/// Cancels the run: what is not under way on a worker ends at once, and a worker is told when it
/// says that it lives.
fn cancelled(world: &mut Hosts) {
    if world.store.ended.is_some() {
        return;
    }
    let at = world.at();
    let why = Came::Cancelled("enough".to_owned());
    world.driver.history.came(at, why);
    let activity = world.driver.activity.as_ref();
    if activity.is_some_and(|it| matches!(it.what, What::Conclude(_))) {
        // It comes too late: how the run ended is clear, and its host is told.
        return;
    }
    world.cancelled = true;
    let is_session = |it: &Activity| it.is_taken && matches!(it.what, What::Session(_));
    if world.driver.activity.as_ref().is_some_and(is_session) {
        return;
    }
    let timer = world.driver.timer.take().map(|_| Came::TimeIsUp);
    let activity = world.driver.activity.take().map(|it| match it.what {
        What::Claim => Came::Claimed(Err(Failure::retryable("cancelled", "no host claims it"))),
        What::Look => Came::Looked(Err(Lost::Cancelled)),
        What::Session(_) => Came::Answered(Err(Lost::Cancelled)),
        What::Conclude(_) => unreachable!("it is not cancelled with the run"),
    });
    match activity.or(timer) {
        Some(over) => came(world, over),
        None => decide(world),
    }
}

/// Takes what came of a task, unless it was given up.
fn done(world: &mut Hosts, task: Task, what: Came) {
    let is_awaited = |activity: &Activity| activity.is_taken && activity.task() == task;
    if !world.driver.activity.as_ref().is_some_and(is_awaited) {
        world.driver.counted.late += 1;
        return;
    }
    let activity = world.driver.activity.take();
    if let Came::Concluded = &what {
        ends::concluded(world);
    }
    if let Came::Answered(Err(Lost::Worker(_))) = &what {
        world.driver.losses.is_lost_here = true;
    }
    if let Came::Answered(Ok(SessionAnswer::Ended(outcome))) = &what {
        if let Some(What::Session(call)) = activity.map(|activity| activity.what)
            && outcome.result.end != SessionEnd::Cancelled
        {
            world.told.insert(call.number);
        }
        let losses = &mut world.driver.losses;
        losses.counted += losses.hosts.max(outcome.lost) as usize;
        (losses.hosts, losses.is_lost_here) = (0, false);
    }
    came(world, what);
}

fn untaken(world: &mut Hosts, task: Task) {
    let activity = world.driver.activity.as_ref();
    let Some(activity) = activity.filter(|it| it.task() == task && !it.is_taken) else {
        return;
    };
    let lost = match activity.what {
        What::Session(_) => {
            let losses = &mut world.driver.losses;
            losses.hosts += u32::from(std::mem::take(&mut losses.is_lost_here));
            Came::Answered(Err(Lost::HostIsGone))
        }
        _ => Came::Looked(Err(Lost::HostIsGone)),
    };
    world.driver.counted.hosts_gone += 1;
    world.driver.activity = None;
    came(world, lost);
}

fn too_long(world: &mut Hosts, id: u64) {
    if world.driver.activity.as_ref().is_some_and(|it| it.id == id) {
        world.driver.activity = None;
        world.driver.counted.unconcluded += 1;
        came(world, Came::Concluded);
    }
}

fn silent(world: &mut Hosts, task: Task) {
    let now = world.now;
    let activity = world.driver.activity.as_mut();
    let Some(activity) = activity.filter(|it| it.task() == task && it.is_taken) else {
        return;
    };
    let until = activity.heard_at + HEARTBEAT;
    if now < until {
        return world.plan_elsewhere(until, Event::Silent(task));
    }
    if let What::Session(_) = activity.what {
        world.driver.activity = None;
        world.driver.losses.is_lost_here = true;
        world.tally.lost += 1;
        return came(world, Came::Answered(Err(Lost::Worker("silence".into()))));
    }
    // Short ones are tried again by the server itself.
    activity.attempt += 1;
    activity.is_taken = false;
}

/// Gives a task to a worker of `host` that asks for one.
pub(super) fn take(world: &mut Hosts, host: usize) -> Option<(Task, What)> {
    let now = world.now;
    let is_for_it = |it: &&mut Activity| !it.is_taken && it.host.is_none_or(|only| only == host);
    let activity = world.driver.activity.as_mut().filter(is_for_it)?;
    activity.is_taken = true;
    activity.heard_at = now;
    let given = (activity.task(), activity.what.clone());
    world.plan_elsewhere(now + HEARTBEAT, Event::Silent(given.0));
    Some(given)
}

fn came(world: &mut Hosts, came: Came) {
    let at = world.at();
    world.driver.history.came(at, came);
    decide(world);
}

/// Does what the run asks for next.
pub(super) fn decide(world: &mut Hosts) {
    let at = world.at();
    // The worker that has the workflow in memory dies now and then.
    if world.random.happens(20) {
        world.driver.counted.replays += 1;
        if !world.driver.history.replay() {
            world.driver.violation = Some(Violation::Diverged);
        }
    }
    loop {
        match world.driver.history.next(at) {
            Step::Claim { queue } => return give_out(world, What::Claim, queue, None),
            Step::Look(OnHost { queue, patience }) => {
                let patience = patience.map(|patience| patience.as_millis());
                return give_out(world, What::Look, Some(queue), patience);
            }
            Step::Session(OnHost { queue, patience }, call) => {
                if world.cancelled {
                    let number = call.number;
                    world.driver.violation = Some(Violation::BegunAfterCancel { number });
                }
                check_epoch(world, &queue, call.epoch);
                world.driver.heard.extend(call.session.messages.clone());
                let patience = patience.map(|patience| patience.as_millis());
                return give_out(world, What::Session(call), Some(queue), patience);
            }
            Step::Timer(left) => {
                world.driver.ids += 1;
                let id = world.driver.ids;
                world.driver.timer = Some(id);
                let left = u64::try_from(left.as_millis()).expect("short");
                let late = world.random.between(0, 500);
                return world.plan_elsewhere(world.now + left + late, Event::TimeIsUp(id));
            }
            Step::AwaitInstruction => {
                world.driver.counted.held += 1;
                return;
            }
            Step::BeginAnew => {
                world.driver.counted.begun_anew += 1;
                world.driver.history = world.driver.history.anew();
            }
            Step::Conclude { queue, end } => {
                world.driver.asked.push(end.report.clone());
                give_out(world, What::Conclude(end), Some(queue), None);
                let patience = world.driver.history.course.begin.pace.end.as_millis();
                let at = world.now + u64::try_from(patience).expect("short");
                return world.plan_elsewhere(at, Event::TooLong(world.driver.ids));
            }
            Step::Finish(report) => {
                ends::check(world, &report);
                let unheard = world.driver.said.iter().filter(|said| {
                    let is_named = report.undelivered_messages.contains(*said);
                    !is_named && !world.driver.heard.contains(*said)
                });
                world.driver.counted.unheard = unheard.cloned().collect();
                // Of a session that has told nothing.
                let losses = &mut world.driver.losses;
                losses.counted += losses.hosts as usize + usize::from(losses.is_lost_here);
                world.store.ended = Some(*report);
                return;
            }
        }
    }
}

fn give_out(world: &mut Hosts, what: What, queue: Option<String>, patience: Option<u128>) {
    world.driver.ids += 1;
    let activity = Activity {
        id: world.driver.ids,
        attempt: 1,
        what,
        host: queue.map(|queue| queue.parse().expect("the number of a host")),
        is_taken: false,
        heard_at: world.now,
    };
    if let Some(patience) = patience {
        let patience = u64::try_from(patience).expect("short");
        world.plan_elsewhere(world.now + patience, Event::Untaken(activity.task()));
    }
    world.driver.activity = Some(activity);
}

/// An epoch only rises, and belongs to one host.
fn check_epoch(world: &mut Hosts, queue: &str, epoch: autonoe_core::Epoch) {
    if let Some((last, host)) = &world.driver.last
        && (epoch < *last || (epoch == *last && queue != host))
    {
        world.driver.violation = Some(Violation::EpochFell {
            from: last.0,
            to: epoch.0,
        });
    }
    world.driver.last = Some((epoch, queue.to_owned()));
}
