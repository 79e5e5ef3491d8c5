//! The simulated server: it stores the history, schedules tasks and detects dead workers.

use autonoe_core::agent::SessionEnd;
use autonoe_core::engine::RunInstruction;
use autonoe_core::event::Failure;
use autonoe_testkit::simulation::Violation;

use super::super::super::{NoAnswer, SessionsEvent, SessionsStep, TargetHost};
use super::cluster::{Activity, ActivityKind, Event, Simulation, Task};
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
pub(super) fn outage_end(simulation: &Simulation) -> Option<u64> {
    let is_now = |(from, until): &&(u64, u64)| (*from..*until).contains(&simulation.now);
    let outage = simulation.driver.outages.iter().find(is_now);
    outage.map(|(_, until)| *until)
}

/// Delivers an event to the server; later, if it is unreachable.
pub(super) fn handle(simulation: &mut Simulation, event: Event) {
    if let Some(until) = outage_end(simulation) {
        // A worker that cannot report a result gives up after a while.
        let is_report = matches!(event, Event::Done { .. });
        if !(is_report && simulation.random.chance(50)) {
            let at = until + simulation.random.between(0, 2000);
            simulation.plan_global(at, event);
        }
        return;
    }
    match event {
        Event::Done { task, event } => done(simulation, task, *event),
        Event::Untaken(task) => untaken(simulation, task),
        Event::Silent(task) => silent(simulation, task),
        Event::TooLong(id) => too_long(simulation, id),
        Event::TimedOut(timer) => {
            if simulation.driver.timer == Some(timer) {
                simulation.driver.timer = None;
                apply_event(simulation, SessionsEvent::TimedOut);
            }
        }
        Event::Instructed(instruction) => instructed(simulation, instruction),
        Event::Cancelled => cancelled(simulation),
        other => unreachable!("{other:?} is an event of a worker"),
    }
}

fn instructed(simulation: &mut Simulation, instruction: RunInstruction) {
    if simulation.store.ended.is_some() {
        return;
    }
    if let RunInstruction::Message(text) = &instruction {
        simulation.driver.sent.push(text.clone());
    }
    let at = simulation.at();
    simulation
        .driver
        .history
        .apply(at, SessionsEvent::Instructed(instruction));
    if simulation.driver.activity.is_none() && simulation.driver.timer.is_none() {
        decide(simulation);
    }
}

/// Cancels the run. Work that is not in progress on a worker ends at once; a worker learns of it
/// with its next heartbeat.
fn cancelled(simulation: &mut Simulation) {
    if simulation.store.ended.is_some() {
        return;
    }
    let at = simulation.at();
    let cancellation = SessionsEvent::Cancelled("enough".to_owned());
    simulation.driver.history.apply(at, cancellation);
    let activity = simulation.driver.activity.as_ref();
    if activity.is_some_and(|it| matches!(it.kind, ActivityKind::Conclude(_))) {
        // Too late: the end of the run is decided, and its host records it.
        return;
    }
    simulation.cancelled = true;
    let is_session = |it: &Activity| it.is_started && matches!(it.kind, ActivityKind::Session(_));
    if simulation.driver.activity.as_ref().is_some_and(is_session) {
        return;
    }
    let timer = simulation
        .driver
        .timer
        .take()
        .map(|_| SessionsEvent::TimedOut);
    let activity = simulation.driver.activity.take().map(|it| match it.kind {
        ActivityKind::Claim => {
            SessionsEvent::Claimed(Err(Failure::retryable("cancelled", "no host claims it")))
        }
        ActivityKind::ReadLedger => SessionsEvent::LedgerRead(Err(NoAnswer::Cancelled)),
        ActivityKind::Session(_) => SessionsEvent::Answered(Err(NoAnswer::Cancelled)),
        ActivityKind::Conclude(_) => unreachable!("it is not cancelled with the run"),
    });
    match activity.or(timer) {
        Some(over) => apply_event(simulation, over),
        None => decide(simulation),
    }
}

/// Handles the result of a task, unless it was given up.
fn done(simulation: &mut Simulation, task: Task, event: SessionsEvent) {
    let is_awaited = |activity: &Activity| activity.is_started && activity.task() == task;
    if !simulation.driver.activity.as_ref().is_some_and(is_awaited) {
        simulation.driver.counted.late += 1;
        return;
    }
    let activity = simulation.driver.activity.take();
    if let SessionsEvent::Concluded = &event {
        ends::concluded(simulation);
    }
    if let SessionsEvent::Answered(Err(NoAnswer::Worker(_))) = &event {
        simulation.driver.losses.is_lost_here = true;
    }
    if let SessionsEvent::Answered(Ok(SessionAnswer::Ended(outcome))) = &event {
        if let Some(ActivityKind::Session(call)) = activity.map(|activity| activity.kind)
            && outcome.result.end != SessionEnd::Cancelled
        {
            simulation.reported_ends.insert(call.number);
        }
        let losses = &mut simulation.driver.losses;
        losses.counted += losses.hosts.max(outcome.lost) as usize;
        (losses.hosts, losses.is_lost_here) = (0, false);
    }
    apply_event(simulation, event);
}

fn untaken(simulation: &mut Simulation, task: Task) {
    let activity = simulation.driver.activity.as_ref();
    let Some(activity) = activity.filter(|it| it.task() == task && !it.is_started) else {
        return;
    };
    let lost = match activity.kind {
        ActivityKind::Session(_) => {
            let losses = &mut simulation.driver.losses;
            losses.hosts += u32::from(std::mem::take(&mut losses.is_lost_here));
            SessionsEvent::Answered(Err(NoAnswer::HostUnreachable))
        }
        _ => SessionsEvent::LedgerRead(Err(NoAnswer::HostUnreachable)),
    };
    simulation.driver.counted.hosts_lost += 1;
    simulation.driver.activity = None;
    apply_event(simulation, lost);
}

fn too_long(simulation: &mut Simulation, id: u64) {
    if simulation
        .driver
        .activity
        .as_ref()
        .is_some_and(|it| it.id == id)
    {
        simulation.driver.activity = None;
        simulation.driver.counted.unconcluded += 1;
        apply_event(simulation, SessionsEvent::Concluded);
    }
}

fn silent(simulation: &mut Simulation, task: Task) {
    let now = simulation.now;
    let activity = simulation.driver.activity.as_mut();
    let Some(activity) = activity.filter(|it| it.task() == task && it.is_started) else {
        return;
    };
    let until = activity.last_heartbeat + HEARTBEAT;
    if now < until {
        return simulation.plan_global(until, Event::Silent(task));
    }
    if let ActivityKind::Session(_) = activity.kind {
        simulation.driver.activity = None;
        simulation.driver.losses.is_lost_here = true;
        simulation.tally.lost += 1;
        return apply_event(
            simulation,
            SessionsEvent::Answered(Err(NoAnswer::Worker("silence".into()))),
        );
    }
    // The server itself retries short activities.
    activity.attempt += 1;
    activity.is_started = false;
}

/// Gives a task to a polling worker of `host`.
pub(super) fn poll_task(simulation: &mut Simulation, host: usize) -> Option<(Task, ActivityKind)> {
    let now = simulation.now;
    let is_for_it = |it: &&mut Activity| !it.is_started && it.host.is_none_or(|only| only == host);
    let activity = simulation.driver.activity.as_mut().filter(is_for_it)?;
    activity.is_started = true;
    activity.last_heartbeat = now;
    let assignment = (activity.task(), activity.kind.clone());
    simulation.plan_global(now + HEARTBEAT, Event::Silent(assignment.0));
    Some(assignment)
}

fn apply_event(simulation: &mut Simulation, event: SessionsEvent) {
    let at = simulation.at();
    simulation.driver.history.apply(at, event);
    decide(simulation);
}

/// Performs the next steps of the run.
pub(super) fn decide(simulation: &mut Simulation) {
    let at = simulation.at();
    // The worker that has the workflow in its cache dies now and then.
    if simulation.random.chance(20) {
        simulation.driver.counted.replays += 1;
        if !simulation.driver.history.replay() {
            simulation.driver.violation = Some(Violation::Diverged);
        }
    }
    loop {
        match simulation.driver.history.next(at) {
            SessionsStep::Claim { queue } => {
                return schedule(simulation, ActivityKind::Claim, queue, None);
            }
            SessionsStep::ReadLedger(TargetHost { queue, timeout }) => {
                let timeout = timeout.map(|timeout| timeout.as_millis());
                return schedule(simulation, ActivityKind::ReadLedger, Some(queue), timeout);
            }
            SessionsStep::Session(TargetHost { queue, timeout }, call) => {
                if simulation.cancelled {
                    let number = call.number;
                    simulation.driver.violation = Some(Violation::StartedAfterCancel { number });
                }
                check_epoch(simulation, &queue, call.epoch);
                simulation
                    .driver
                    .received
                    .extend(call.session.messages.clone());
                let timeout = timeout.map(|timeout| timeout.as_millis());
                return schedule(
                    simulation,
                    ActivityKind::Session(call),
                    Some(queue),
                    timeout,
                );
            }
            SessionsStep::Timer(left) => {
                simulation.driver.ids += 1;
                let id = simulation.driver.ids;
                simulation.driver.timer = Some(id);
                let left = u64::try_from(left.as_millis()).expect("short");
                let late = simulation.random.between(0, 500);
                return simulation.plan_global(simulation.now + left + late, Event::TimedOut(id));
            }
            SessionsStep::AwaitInstruction => {
                simulation.driver.counted.held += 1;
                return;
            }
            SessionsStep::NewHistory => {
                simulation.driver.counted.new_histories += 1;
                simulation.driver.history = simulation.driver.history.with_new_history();
            }
            SessionsStep::Conclude { queue, end } => {
                simulation.driver.requested_ends.push(end.report.clone());
                schedule(simulation, ActivityKind::Conclude(end), Some(queue), None);
                let timeout = simulation
                    .driver
                    .history
                    .state_machine
                    .begin
                    .timeouts
                    .end
                    .as_millis();
                let at = simulation.now + u64::try_from(timeout).expect("short");
                return simulation.plan_global(at, Event::TooLong(simulation.driver.ids));
            }
            SessionsStep::Finish(report) => {
                ends::check(simulation, &report);
                let undelivered = simulation.driver.sent.iter().filter(|message| {
                    let is_named = report.undelivered_messages.contains(*message);
                    !is_named && !simulation.driver.received.contains(*message)
                });
                simulation.driver.counted.undelivered = undelivered.cloned().collect();
                // Losses of a session without an answer.
                let losses = &mut simulation.driver.losses;
                losses.counted += losses.hosts as usize + usize::from(losses.is_lost_here);
                simulation.store.ended = Some(*report);
                return;
            }
        }
    }
}

fn schedule(
    simulation: &mut Simulation,
    kind: ActivityKind,
    queue: Option<String>,
    timeout: Option<u128>,
) {
    simulation.driver.ids += 1;
    let activity = Activity {
        id: simulation.driver.ids,
        attempt: 1,
        kind,
        host: queue.map(|queue| queue.parse().expect("the number of a host")),
        is_started: false,
        last_heartbeat: simulation.now,
    };
    if let Some(timeout) = timeout {
        let timeout = u64::try_from(timeout).expect("short");
        simulation.plan_global(simulation.now + timeout, Event::Untaken(activity.task()));
    }
    simulation.driver.activity = Some(activity);
}

/// Checks that epochs only rise, and that each belongs to one host.
fn check_epoch(simulation: &mut Simulation, queue: &str, epoch: autonoe_core::time::Epoch) {
    if let Some((last, host)) = &simulation.driver.last
        && (epoch < *last || (epoch == *last && queue != host))
    {
        simulation.driver.violation = Some(Violation::EpochDecreased {
            from: last.0,
            to: epoch.0,
        });
    }
    simulation.driver.last = Some((epoch, queue.to_owned()));
}
