//! The simulated server: it stores the history, schedules tasks and detects dead workers.

use autonoe_core::agent::SessionEnd;
use autonoe_core::engine::RunInstruction;
use autonoe_core::event::Failure;
use autonoe_testkit::simulation::Violation;

use super::super::super::{NoAnswer, SessionsEvent, SessionsStep, TargetHost};
use super::cluster::{Activity, ActivityKind, Event, Hosts, Task};
use super::ends;
use crate::sessions::activities::SessionAnswer;

/// Time without a heartbeat after which a worker counts as dead, in milliseconds.
const HEARTBEAT: u64 = 15_000;

impl Activity {
    pub(super) fn task(&self) -> Task {
        Task {
            id: self.id,
            attempt: self.attempt,
        }
    }
}

/// Returns until when the server is unreachable, if it is.
pub(super) fn away_until(world: &Hosts) -> Option<u64> {
    let is_now = |(from, until): &&(u64, u64)| (*from..*until).contains(&world.now);
    let outage = world.driver.outages.iter().find(is_now);
    outage.map(|(_, until)| *until)
}

/// Delivers an event to the server; later, if it is unreachable.
pub(super) fn happen(world: &mut Hosts, event: Event) {
    if let Some(until) = away_until(world) {
        // A worker that cannot report a result gives up after a while.
        let is_report = matches!(event, Event::Done { .. });
        if !(is_report && world.random.chance(50)) {
            let at = until + world.random.between(0, 2000);
            world.plan_global(at, event);
        }
        return;
    }
    match event {
        Event::Done { task, came } => done(world, task, *came),
        Event::Untaken(task) => untaken(world, task),
        Event::Silent(task) => silent(world, task),
        Event::TooLong(id) => too_long(world, id),
        Event::TimedOut(timer) => {
            if world.driver.timer == Some(timer) {
                world.driver.timer = None;
                came(world, SessionsEvent::TimedOut);
            }
        }
        Event::Told(told) => instructed(world, told),
        Event::Cancelled => cancelled(world),
        other => unreachable!("{other:?} happens to a worker"),
    }
}

fn instructed(world: &mut Hosts, told: RunInstruction) {
    if world.store.ended.is_some() {
        return;
    }
    if let RunInstruction::Message(text) = &told {
        world.driver.said.push(text.clone());
    }
    let at = world.at();
    world
        .driver
        .history
        .came(at, SessionsEvent::Instructed(told));
    if world.driver.activity.is_none() && world.driver.timer.is_none() {
        decide(world);
    }
}

/// Cancels the run. Work that is not in progress on a worker ends at once; a worker learns of it
/// with its next heartbeat.
fn cancelled(world: &mut Hosts) {
    if world.store.ended.is_some() {
        return;
    }
    let at = world.at();
    let why = SessionsEvent::Cancelled("enough".to_owned());
    world.driver.history.came(at, why);
    let activity = world.driver.activity.as_ref();
    if activity.is_some_and(|it| matches!(it.kind, ActivityKind::Conclude(_))) {
        // Too late: the end of the run is decided, and its host records it.
        return;
    }
    world.cancelled = true;
    let is_session = |it: &Activity| it.is_taken && matches!(it.kind, ActivityKind::Session(_));
    if world.driver.activity.as_ref().is_some_and(is_session) {
        return;
    }
    let timer = world.driver.timer.take().map(|_| SessionsEvent::TimedOut);
    let activity = world.driver.activity.take().map(|it| match it.kind {
        ActivityKind::Claim => {
            SessionsEvent::Claimed(Err(Failure::retryable("cancelled", "no host claims it")))
        }
        ActivityKind::Look => SessionsEvent::LedgerRead(Err(NoAnswer::Cancelled)),
        ActivityKind::Session(_) => SessionsEvent::Answered(Err(NoAnswer::Cancelled)),
        ActivityKind::Conclude(_) => unreachable!("it is not cancelled with the run"),
    });
    match activity.or(timer) {
        Some(over) => came(world, over),
        None => decide(world),
    }
}

/// Handles the result of a task, unless it was given up.
fn done(world: &mut Hosts, task: Task, event: SessionsEvent) {
    let is_awaited = |activity: &Activity| activity.is_taken && activity.task() == task;
    if !world.driver.activity.as_ref().is_some_and(is_awaited) {
        world.driver.counted.late += 1;
        return;
    }
    let activity = world.driver.activity.take();
    if let SessionsEvent::Concluded = &event {
        ends::concluded(world);
    }
    if let SessionsEvent::Answered(Err(NoAnswer::Worker(_))) = &event {
        world.driver.losses.is_lost_here = true;
    }
    if let SessionsEvent::Answered(Ok(SessionAnswer::Ended(outcome))) = &event {
        if let Some(ActivityKind::Session(call)) = activity.map(|activity| activity.kind)
            && outcome.result.end != SessionEnd::Cancelled
        {
            world.reported_ends.insert(call.number);
        }
        let losses = &mut world.driver.losses;
        losses.counted += losses.hosts.max(outcome.lost) as usize;
        (losses.hosts, losses.is_lost_here) = (0, false);
    }
    came(world, event);
}

fn untaken(world: &mut Hosts, task: Task) {
    let activity = world.driver.activity.as_ref();
    let Some(activity) = activity.filter(|it| it.task() == task && !it.is_taken) else {
        return;
    };
    let lost = match activity.kind {
        ActivityKind::Session(_) => {
            let losses = &mut world.driver.losses;
            losses.hosts += u32::from(std::mem::take(&mut losses.is_lost_here));
            SessionsEvent::Answered(Err(NoAnswer::HostIsGone))
        }
        _ => SessionsEvent::LedgerRead(Err(NoAnswer::HostIsGone)),
    };
    world.driver.counted.hosts_gone += 1;
    world.driver.activity = None;
    came(world, lost);
}

fn too_long(world: &mut Hosts, id: u64) {
    if world.driver.activity.as_ref().is_some_and(|it| it.id == id) {
        world.driver.activity = None;
        world.driver.counted.unconcluded += 1;
        came(world, SessionsEvent::Concluded);
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
        return world.plan_global(until, Event::Silent(task));
    }
    if let ActivityKind::Session(_) = activity.kind {
        world.driver.activity = None;
        world.driver.losses.is_lost_here = true;
        world.tally.lost += 1;
        return came(
            world,
            SessionsEvent::Answered(Err(NoAnswer::Worker("silence".into()))),
        );
    }
    // The server itself retries short activities.
    activity.attempt += 1;
    activity.is_taken = false;
}

/// Gives a task to a polling worker of `host`.
pub(super) fn poll_task(world: &mut Hosts, host: usize) -> Option<(Task, ActivityKind)> {
    let now = world.now;
    let is_for_it = |it: &&mut Activity| !it.is_taken && it.host.is_none_or(|only| only == host);
    let activity = world.driver.activity.as_mut().filter(is_for_it)?;
    activity.is_taken = true;
    activity.heard_at = now;
    let given = (activity.task(), activity.kind.clone());
    world.plan_global(now + HEARTBEAT, Event::Silent(given.0));
    Some(given)
}

fn came(world: &mut Hosts, came: SessionsEvent) {
    let at = world.at();
    world.driver.history.came(at, came);
    decide(world);
}

/// Performs the next steps of the run.
pub(super) fn decide(world: &mut Hosts) {
    let at = world.at();
    // The worker that has the workflow in its cache dies now and then.
    if world.random.chance(20) {
        world.driver.counted.replays += 1;
        if !world.driver.history.replay() {
            world.driver.violation = Some(Violation::Diverged);
        }
    }
    loop {
        match world.driver.history.next(at) {
            SessionsStep::Claim { queue } => {
                return give_out(world, ActivityKind::Claim, queue, None);
            }
            SessionsStep::ReadLedger(TargetHost {
                queue,
                timeout: patience,
            }) => {
                let patience = patience.map(|patience| patience.as_millis());
                return give_out(world, ActivityKind::Look, Some(queue), patience);
            }
            SessionsStep::Session(
                TargetHost {
                    queue,
                    timeout: patience,
                },
                call,
            ) => {
                if world.cancelled {
                    let number = call.number;
                    world.driver.violation = Some(Violation::StartedAfterCancel { number });
                }
                check_epoch(world, &queue, call.epoch);
                world.driver.heard.extend(call.session.messages.clone());
                let patience = patience.map(|patience| patience.as_millis());
                return give_out(world, ActivityKind::Session(call), Some(queue), patience);
            }
            SessionsStep::Timer(left) => {
                world.driver.ids += 1;
                let id = world.driver.ids;
                world.driver.timer = Some(id);
                let left = u64::try_from(left.as_millis()).expect("short");
                let late = world.random.between(0, 500);
                return world.plan_global(world.now + left + late, Event::TimedOut(id));
            }
            SessionsStep::AwaitInstruction => {
                world.driver.counted.held += 1;
                return;
            }
            SessionsStep::NewHistory => {
                world.driver.counted.begun_anew += 1;
                world.driver.history = world.driver.history.anew();
            }
            SessionsStep::Conclude { queue, end } => {
                world.driver.asked.push(end.report.clone());
                give_out(world, ActivityKind::Conclude(end), Some(queue), None);
                let patience = world
                    .driver
                    .history
                    .state_machine
                    .begin
                    .timeouts
                    .end
                    .as_millis();
                let at = world.now + u64::try_from(patience).expect("short");
                return world.plan_global(at, Event::TooLong(world.driver.ids));
            }
            SessionsStep::Finish(report) => {
                ends::check(world, &report);
                let unheard = world.driver.said.iter().filter(|said| {
                    let is_named = report.undelivered_messages.contains(*said);
                    !is_named && !world.driver.heard.contains(*said)
                });
                world.driver.counted.unheard = unheard.cloned().collect();
                // Losses of a session without an answer.
                let losses = &mut world.driver.losses;
                losses.counted += losses.hosts as usize + usize::from(losses.is_lost_here);
                world.store.ended = Some(*report);
                return;
            }
        }
    }
}

fn give_out(world: &mut Hosts, kind: ActivityKind, queue: Option<String>, patience: Option<u128>) {
    world.driver.ids += 1;
    let activity = Activity {
        id: world.driver.ids,
        attempt: 1,
        kind,
        host: queue.map(|queue| queue.parse().expect("the number of a host")),
        is_taken: false,
        heard_at: world.now,
    };
    if let Some(patience) = patience {
        let patience = u64::try_from(patience).expect("short");
        world.plan_global(world.now + patience, Event::Untaken(activity.task()));
    }
    world.driver.activity = Some(activity);
}

/// Checks that epochs only rise, and that each belongs to one host.
fn check_epoch(world: &mut Hosts, queue: &str, epoch: autonoe_core::time::Epoch) {
    if let Some((last, host)) = &world.driver.last
        && (epoch < *last || (epoch == *last && queue != host))
    {
        world.driver.violation = Some(Violation::EpochDecreased {
            from: last.0,
            to: epoch.0,
        });
    }
    world.driver.last = Some((epoch, queue.to_owned()));
}
