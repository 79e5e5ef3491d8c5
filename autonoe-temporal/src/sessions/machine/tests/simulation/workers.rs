//! The simulated workers: they poll for tasks and execute them by the rules of `SessionHost`.

use autonoe_core::agent::{SessionEnd, SessionReport};
use autonoe_core::engine::HostedOutcome;
use autonoe_core::event::Failure;
use autonoe_core::run::RunFact;
use autonoe_core::time::Epoch;
use autonoe_testkit::simulation::Fenced;

use super::super::super::{NoAnswer, SessionsEvent};
use super::cluster::{ActivityKind, Event, Hosts, Task, Work};
use super::server;
use crate::sessions::activities::{Claim, EndCall, SessionAnswer, SessionCall};

/// Wait before checking again whether another agent has finished, in milliseconds.
const POLL_INTERVAL: u64 = 500;

/// Sends a heartbeat and polls for work.
pub(super) fn beat(world: &mut Hosts, host: usize, life: u32) {
    let has_touch = !world.is_cut_off(host) && server::away_until(world).is_none();
    if has_touch {
        send_heartbeat(world, host);
        if let Some((task, kind)) = server::poll_task(world, host) {
            give(world, host, life, task, &kind);
        }
    }
    if world.store.ended.is_none() {
        let at = world.now + world.random.between(2000, 6000);
        world.plan(at, host, Event::Beat { life });
    }
}

fn send_heartbeat(world: &mut Hosts, host: usize) {
    let Some(task) = world.hosts[host].state.task else {
        return;
    };
    let now = world.now;
    let activity = world.driver.activity.as_mut();
    if let Some(activity) = activity.filter(|it| it.task() == task && it.is_taken) {
        activity.heard_at = now;
        if world.cancelled {
            cancelled(world, host, task);
        }
        return;
    }
    // The server cancels its task. Its agent stops, or runs to its end and keeps others
    // out meanwhile.
    let hands = &mut world.hosts[host].state;
    hands.task = None;
    if world.random.chance(50) {
        hands.work = None;
    }
}

/// Ends a session because its run is cancelled, and records that.
fn cancelled(world: &mut Hosts, host: usize, task: Task) {
    let hands = &mut world.hosts[host].state;
    let work = hands.work.filter(|work| work.task == task);
    if work.is_some() {
        hands.work = None;
    }
    // A worker that cannot determine the reason abandons the session.
    if world.random.chance(20) {
        let lost = NoAnswer::Worker("let go".to_owned());
        return report(world, host, task, &SessionsEvent::Answered(Err(lost)));
    }
    let Some(Work { epoch, number, .. }) = work else {
        let answer = SessionAnswer::Cancelled;
        return report(world, host, task, &SessionsEvent::Answered(Ok(answer)));
    };
    let (at, ledger) = (world.at(), world.store.ledger());
    let ended = RunFact::SessionEnded {
        at,
        number,
        result: SessionReport::new(SessionEnd::Cancelled),
        ledger: Ok(ledger),
    };
    match world.store.end_session(epoch, number, ledger, &ended) {
        Ok(()) => report(world, host, task, &ended_with(&ended, lost(world, number))),
        Err(Fenced) => fenced(world, host, task),
    }
}

/// Sends a task to a worker. It may get lost, or arrive twice.
fn give(world: &mut Hosts, host: usize, life: u32, task: Task, kind: &ActivityKind) {
    if world.random.chance(5) {
        return;
    }
    let copies = 1 + u64::from(world.random.chance(10));
    world.tally.duplicates += copies - 1;
    for _ in 0..copies {
        let kind = kind.clone();
        world.plan_within(host, 1000, Event::Given { life, task, kind });
    }
    if let ActivityKind::Session(_) = kind {
        world.hosts[host].state.task = Some(task);
    }
}

/// Executes a task.
pub(super) fn given(world: &mut Hosts, host: usize, life: u32, task: Task, kind: ActivityKind) {
    let ledger = world.store.ledger();
    match kind {
        ActivityKind::Claim => {
            world.tally.takeovers += 1;
            let claim = Claim {
                queue: host.to_string(),
                epoch: world.store.next_epoch(),
                ledger: Ok(ledger),
            };
            report(world, host, task, &SessionsEvent::Claimed(Ok(claim)));
        }
        ActivityKind::Look => report(
            world,
            host,
            task,
            &SessionsEvent::LedgerRead(Ok(Ok(ledger))),
        ),
        ActivityKind::Session(call) => attach(world, host, life, task, call),
        ActivityKind::Conclude(end) => conclude(world, host, life, task, end),
    }
}

/// Records the end of the run, once and as soon as no agent works here.
fn conclude(world: &mut Hosts, host: usize, life: u32, task: Task, end: Box<EndCall>) {
    if world.store.ended.is_some() {
        // The activity was cancelled, because the run has already ended.
        return;
    }
    let needs_end = !world.driver.losses.begun.is_empty() && world.driver.ends.is_empty();
    if world.store.raise(end.epoch) == Err(Fenced) || !needs_end {
        return report(world, host, task, &SessionsEvent::Concluded);
    }
    let it = &mut world.hosts[host];
    if it
        .state
        .work
        .is_some_and(|work| it.is_agent_running(work.life))
    {
        let (at, kind) = (world.now + POLL_INTERVAL, ActivityKind::Conclude(end));
        return world.plan(at, host, Event::Given { life, task, kind });
    }
    world.driver.ends.push(end.report);
    report(world, host, task, &SessionsEvent::Concluded);
}

/// Returns the recorded outcome of a session, or starts it, or waits for the agent that is at work.
fn attach(world: &mut Hosts, host: usize, life: u32, task: Task, call: Box<SessionCall>) {
    if world.hosts[host].state.task != Some(task) {
        return;
    }
    if world.store.raise(call.epoch) == Err(Fenced) {
        return fenced(world, host, task);
    }
    if let Some(ended) = world.store.outcome(call.number) {
        let answer = ended_with(ended, lost(world, call.number));
        world.tally.records_used += 1;
        return report(world, host, task, &answer);
    }
    if !world.driver.ends.is_empty() {
        let refused = Failure::permanent("run_ended", "the run has ended here");
        let answer = SessionAnswer::Failed(refused);
        return report(world, host, task, &SessionsEvent::Answered(Ok(answer)));
    }
    let it = &mut world.hosts[host];
    if it
        .state
        .work
        .is_some_and(|work| it.is_agent_running(work.life))
    {
        let at = world.now + POLL_INTERVAL;
        let kind = ActivityKind::Session(call);
        return world.plan(at, host, Event::Given { life, task, kind });
    }
    let work = Work {
        life,
        task,
        epoch: call.epoch,
        number: call.number,
    };
    it.state.work = Some(work);
    *world.driver.losses.begun.entry(call.number).or_default() += 1;
    let at = world.now + world.work.duration(call.number);
    world.plan(at, host, Event::SessionOver(work));
}

/// Records the work of a session, through the fence, and then reports it.
pub(super) fn session_over(world: &mut Hosts, host: usize, work: Work) {
    let hands = &mut world.hosts[host].state;
    // It was ended before.
    if hands.work != Some(work) {
        return;
    }
    hands.work = None;
    let (at, before) = (world.at(), world.store.ledger());
    let (result, ledger) = world.work.perform(work.number, at, before);
    let number = work.number;
    let ended = RunFact::SessionEnded {
        at,
        number,
        result,
        ledger: Ok(ledger),
    };
    let written = world.store.end_session(work.epoch, number, ledger, &ended);
    // An agent that outlived its worker cannot report its result.
    if !world.hosts[host].is_current_life(work.life) {
        return;
    }
    match written {
        Ok(()) => report(
            world,
            host,
            work.task,
            &ended_with(&ended, lost(world, number)),
        ),
        Err(Fenced) => fenced(world, host, work.task),
    }
}

/// Returns how often a session started in addition to its final start.
fn lost(world: &Hosts, number: u32) -> u32 {
    let begun = world.driver.losses.begun.get(&number);
    begun.copied().unwrap_or_default().saturating_sub(1)
}

fn ended_with(ended: &RunFact, lost: u32) -> SessionsEvent {
    let RunFact::SessionEnded { result, ledger, .. } = ended else {
        panic!("{ended:?} is no outcome");
    };
    let outcome = HostedOutcome::new(result.clone(), ledger.clone()).lost(lost);
    SessionsEvent::Answered(Ok(SessionAnswer::Ended(Box::new(outcome))))
}

fn fenced(world: &mut Hosts, host: usize, task: Task) {
    let latest = Epoch(world.store.next_epoch().0 - 1);
    report(
        world,
        host,
        task,
        &SessionsEvent::Answered(Ok(SessionAnswer::Fenced { latest })),
    );
}

/// Sends the result of a task to the server. It may arrive late, twice or never.
fn report(world: &mut Hosts, host: usize, task: Task, came: &SessionsEvent) {
    // The worker is done with the task, whatever happens to the report.
    let hands = &mut world.hosts[host].state;
    hands.task = hands.task.filter(|mine| *mine != task);
    let copies = world.random.between(1, 4) / 4 + 1;
    world.tally.duplicates += copies - 1;
    for _ in 0..copies {
        if world.random.chance(5) {
            continue;
        }
        let at = world.now + world.random.between(0, 6000);
        let came = Box::new(came.clone());
        world.plan_global(at, Event::Done { task, came });
    }
}
