//! The simulated workers: they poll for tasks and execute them by the rules of `SessionHost`.

use autonoe_core::agent::{SessionEnd, SessionReport};
use autonoe_core::engine::HostedOutcome;
use autonoe_core::event::Failure;
use autonoe_core::run::RunFact;
use autonoe_core::time::Epoch;
use autonoe_testkit::simulation::Fenced;

use super::super::super::{NoAnswer, SessionsEvent};
use super::cluster::{ActivityKind, Event, Simulation, Task, Work};
use super::server;
use crate::sessions::activities::{Claim, EndCall, SessionAnswer, SessionCall};

/// Wait before checking again whether another agent has finished, in milliseconds.
const POLL_INTERVAL: u64 = 500;

/// Sends a heartbeat and polls for work.
pub(super) fn beat(simulation: &mut Simulation, host: usize, life: u32) {
    let has_touch = !simulation.is_cut_off(host) && server::outage_end(simulation).is_none();
    if has_touch {
        send_heartbeat(simulation, host);
        if let Some((task, kind)) = server::poll_task(simulation, host) {
            give(simulation, host, life, task, &kind);
        }
    }
    if simulation.store.ended.is_none() {
        let at = simulation.now + simulation.random.between(2000, 6000);
        simulation.plan(at, host, Event::Beat { life });
    }
}

fn send_heartbeat(simulation: &mut Simulation, host: usize) {
    let Some(task) = simulation.hosts[host].state.task else {
        return;
    };
    let now = simulation.now;
    let activity = simulation.driver.activity.as_mut();
    if let Some(activity) = activity.filter(|it| it.task() == task && it.is_started) {
        activity.last_heartbeat = now;
        if simulation.cancelled {
            cancelled(simulation, host, task);
        }
        return;
    }
    // The server cancels its task. Its agent stops, or runs to its end and keeps others
    // out meanwhile.
    let worker = &mut simulation.hosts[host].state;
    worker.task = None;
    if simulation.random.chance(50) {
        worker.work = None;
    }
}

/// Ends a session because its run is cancelled, and records that.
fn cancelled(simulation: &mut Simulation, host: usize, task: Task) {
    let worker = &mut simulation.hosts[host].state;
    let work = worker.work.filter(|work| work.task == task);
    if work.is_some() {
        worker.work = None;
    }
    // A worker that cannot determine the reason abandons the session.
    if simulation.random.chance(20) {
        let lost = NoAnswer::Worker("let go".to_owned());
        return report(simulation, host, task, &SessionsEvent::Answered(Err(lost)));
    }
    let Some(Work { epoch, number, .. }) = work else {
        let answer = SessionAnswer::Cancelled;
        return report(simulation, host, task, &SessionsEvent::Answered(Ok(answer)));
    };
    let (at, ledger) = (simulation.at(), simulation.store.ledger());
    let ended = RunFact::SessionEnded {
        at,
        number,
        result: SessionReport::new(SessionEnd::Cancelled),
        ledger: Ok(ledger),
    };
    match simulation.store.end_session(epoch, number, ledger, &ended) {
        Ok(()) => report(
            simulation,
            host,
            task,
            &ended_with(&ended, lost(simulation, number)),
        ),
        Err(Fenced) => fenced(simulation, host, task),
    }
}

/// Sends a task to a worker. It may get lost, or arrive twice.
fn give(simulation: &mut Simulation, host: usize, life: u32, task: Task, kind: &ActivityKind) {
    if simulation.random.chance(5) {
        return;
    }
    let copies = 1 + u64::from(simulation.random.chance(10));
    simulation.tally.duplicates += copies - 1;
    for _ in 0..copies {
        let kind = kind.clone();
        simulation.plan_within(host, 1000, Event::Received { life, task, kind });
    }
    if let ActivityKind::Session(_) = kind {
        simulation.hosts[host].state.task = Some(task);
    }
}

/// Executes a task.
pub(super) fn receive(
    simulation: &mut Simulation,
    host: usize,
    life: u32,
    task: Task,
    kind: ActivityKind,
) {
    let ledger = simulation.store.ledger();
    match kind {
        ActivityKind::Claim => {
            simulation.tally.takeovers += 1;
            let claim = Claim {
                queue: host.to_string(),
                epoch: simulation.store.next_epoch(),
                ledger: Ok(ledger),
            };
            report(simulation, host, task, &SessionsEvent::Claimed(Ok(claim)));
        }
        ActivityKind::ReadLedger => report(
            simulation,
            host,
            task,
            &SessionsEvent::LedgerRead(Ok(Ok(ledger))),
        ),
        ActivityKind::Session(call) => attach(simulation, host, life, task, call),
        ActivityKind::Conclude(end) => conclude(simulation, host, life, task, end),
    }
}

/// Records the end of the run, once and as soon as no agent works here.
fn conclude(simulation: &mut Simulation, host: usize, life: u32, task: Task, end: Box<EndCall>) {
    if simulation.store.ended.is_some() {
        // The activity was cancelled, because the run has already ended.
        return;
    }
    let needs_end =
        !simulation.driver.losses.starts.is_empty() && simulation.driver.ends.is_empty();
    if simulation.store.raise(end.epoch) == Err(Fenced) || !needs_end {
        return report(simulation, host, task, &SessionsEvent::Concluded);
    }
    let it = &mut simulation.hosts[host];
    if it
        .state
        .work
        .is_some_and(|work| it.is_agent_running(work.life))
    {
        let (at, kind) = (simulation.now + POLL_INTERVAL, ActivityKind::Conclude(end));
        return simulation.plan(at, host, Event::Received { life, task, kind });
    }
    simulation.driver.ends.push(end.report);
    report(simulation, host, task, &SessionsEvent::Concluded);
}

/// Returns the recorded outcome of a session, or starts it, or waits for the agent that is at work.
fn attach(simulation: &mut Simulation, host: usize, life: u32, task: Task, call: Box<SessionCall>) {
    if simulation.hosts[host].state.task != Some(task) {
        return;
    }
    if simulation.store.raise(call.epoch) == Err(Fenced) {
        return fenced(simulation, host, task);
    }
    if let Some(ended) = simulation.store.outcome(call.number) {
        let answer = ended_with(ended, lost(simulation, call.number));
        simulation.tally.records_used += 1;
        return report(simulation, host, task, &answer);
    }
    if !simulation.driver.ends.is_empty() {
        let refused = Failure::permanent("run_ended", "the run has ended here");
        let answer = SessionAnswer::Failed(refused);
        return report(simulation, host, task, &SessionsEvent::Answered(Ok(answer)));
    }
    let it = &mut simulation.hosts[host];
    if it
        .state
        .work
        .is_some_and(|work| it.is_agent_running(work.life))
    {
        let at = simulation.now + POLL_INTERVAL;
        let kind = ActivityKind::Session(call);
        return simulation.plan(at, host, Event::Received { life, task, kind });
    }
    let work = Work {
        life,
        task,
        epoch: call.epoch,
        number: call.number,
    };
    it.state.work = Some(work);
    *simulation
        .driver
        .losses
        .starts
        .entry(call.number)
        .or_default() += 1;
    let at = simulation.now + simulation.work.duration(call.number);
    simulation.plan(at, host, Event::SessionOver(work));
}

/// Records the work of a session, through the fence, and then reports it.
pub(super) fn session_over(simulation: &mut Simulation, host: usize, work: Work) {
    let worker = &mut simulation.hosts[host].state;
    // It was ended before.
    if worker.work != Some(work) {
        return;
    }
    worker.work = None;
    let (at, before) = (simulation.at(), simulation.store.ledger());
    let (result, ledger) = simulation.work.perform(work.number, at, before);
    let number = work.number;
    let ended = RunFact::SessionEnded {
        at,
        number,
        result,
        ledger: Ok(ledger),
    };
    let written = simulation
        .store
        .end_session(work.epoch, number, ledger, &ended);
    // An agent that outlived its worker cannot report its result.
    if !simulation.hosts[host].is_current_life(work.life) {
        return;
    }
    match written {
        Ok(()) => report(
            simulation,
            host,
            work.task,
            &ended_with(&ended, lost(simulation, number)),
        ),
        Err(Fenced) => fenced(simulation, host, work.task),
    }
}

/// Returns how often a session started in addition to its final start.
fn lost(simulation: &Simulation, number: u32) -> u32 {
    let starts = simulation.driver.losses.starts.get(&number);
    starts.copied().unwrap_or_default().saturating_sub(1)
}

fn ended_with(ended: &RunFact, lost: u32) -> SessionsEvent {
    let RunFact::SessionEnded { result, ledger, .. } = ended else {
        panic!("{ended:?} is no outcome");
    };
    let outcome = HostedOutcome::new(result.clone(), ledger.clone()).lost(lost);
    SessionsEvent::Answered(Ok(SessionAnswer::Ended(Box::new(outcome))))
}

fn fenced(simulation: &mut Simulation, host: usize, task: Task) {
    let latest = Epoch(simulation.store.next_epoch().0 - 1);
    report(
        simulation,
        host,
        task,
        &SessionsEvent::Answered(Ok(SessionAnswer::Fenced { latest })),
    );
}

/// Sends the result of a task to the server. It may arrive late, twice or never.
fn report(simulation: &mut Simulation, host: usize, task: Task, event: &SessionsEvent) {
    // The worker is done with the task, whatever happens to the report.
    let worker = &mut simulation.hosts[host].state;
    worker.task = worker.task.filter(|own| *own != task);
    let copies = simulation.random.between(1, 4) / 4 + 1;
    simulation.tally.duplicates += copies - 1;
    for _ in 0..copies {
        if simulation.random.chance(5) {
            continue;
        }
        let at = simulation.now + simulation.random.between(0, 6000);
        let event = Box::new(event.clone());
        simulation.plan_global(at, Event::Done { task, event });
    }
}
