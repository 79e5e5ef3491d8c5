//! The workers: they ask for tasks and carry them out, as `SessionHost` demands it.

use autonoe_core::{Epoch, Failure, HostedOutcome, RunFact, SessionEnd, SessionResult};
use autonoe_testkit::simulation::Fenced;

use super::super::super::super::calls::{Claim, EndCall, SessionAnswer, SessionCall};
use super::super::super::{Came, Lost};
use super::cluster::{Event, Hosts, Task, What, Work};
use super::server;

/// How long to wait before looking again whether another one is done, in milliseconds.
const LOOK_AGAIN: u64 = 500;

/// Says that the worker lives, and asks for work.
pub(super) fn beat(world: &mut Hosts, host: usize, life: u32) {
    let has_touch = !world.is_cut_off(host) && server::away_until(world).is_none();
    if has_touch {
        say_that_it_lives(world, host);
        if let Some((task, what)) = server::take(world, host) {
            give(world, host, life, task, &what);
        }
    }
    if world.store.ended.is_none() {
        let at = world.now + world.random.between(2000, 6000);
        world.plan(at, host, Event::Beat { life });
    }
}

fn say_that_it_lives(world: &mut Hosts, host: usize) {
    let Some(task) = world.hosts[host].hands.task else {
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
    // It is told to let go. What it has started ends then, or goes on to its end and keeps others
    // out so long.
    let hands = &mut world.hosts[host].hands;
    hands.task = None;
    if world.random.happens(50) {
        hands.work = None;
    }
}

/// Ends a session because its run is cancelled, and has that written down.
fn cancelled(world: &mut Hosts, host: usize, task: Task) {
    let hands = &mut world.hosts[host].hands;
    let work = hands.work.filter(|work| work.task == task);
    if work.is_some() {
        hands.work = None;
    }
    // Who cannot find out why a session is to end lets go of it.
    if world.random.happens(20) {
        let lost = Lost::Worker("let go".to_owned());
        return report(world, host, task, &Came::Answered(Err(lost)));
    }
    let Some(Work { epoch, number, .. }) = work else {
        let answer = SessionAnswer::Cancelled;
        return report(world, host, task, &Came::Answered(Ok(answer)));
    };
    let (at, ledger) = (world.at(), world.store.ledger());
    let ended = RunFact::SessionEnded {
        at,
        number,
        result: SessionResult::new(SessionEnd::Cancelled),
        ledger: Ok(ledger),
    };
    match world.store.end_session(epoch, number, ledger, &ended) {
        Ok(()) => report(world, host, task, &ended_with(&ended, lost(world, number))),
        Err(Fenced) => fenced(world, host, task),
    }
}

/// A task may get lost on its way, or come twice.
fn give(world: &mut Hosts, host: usize, life: u32, task: Task, what: &What) {
    if world.random.happens(5) {
        return;
    }
    let copies = 1 + u64::from(world.random.happens(10));
    world.tally.duplicates += copies - 1;
    for _ in 0..copies {
        let what = what.clone();
        world.soon(host, 1000, Event::Given { life, task, what });
    }
    if let What::Session(_) = what {
        world.hosts[host].hands.task = Some(task);
    }
}

/// Carries out a task.
pub(super) fn given(world: &mut Hosts, host: usize, life: u32, task: Task, what: What) {
    let ledger = world.store.ledger();
    match what {
        What::Claim => {
            world.tally.takeovers += 1;
            let claim = Claim {
                queue: host.to_string(),
                epoch: world.store.next_epoch(),
                ledger: Ok(ledger),
            };
            report(world, host, task, &Came::Claimed(Ok(claim)));
        }
        What::Look => report(world, host, task, &Came::Looked(Ok(Ok(ledger)))),
        What::Session(call) => attach(world, host, life, task, call),
        What::Conclude(end) => conclude(world, host, life, task, end),
    }
}

/// Writes down the end of the run, once and as soon as nobody works here.
fn conclude(world: &mut Hosts, host: usize, life: u32, task: Task, end: Box<EndCall>) {
    if world.store.ended.is_some() {
        // It was told that nobody waits for this any more.
        return;
    }
    let needs_end = !world.driver.losses.begun.is_empty() && world.driver.ends.is_empty();
    if world.store.raise(end.epoch) == Err(Fenced) || !needs_end {
        return report(world, host, task, &Came::Concluded);
    }
    let it = &mut world.hosts[host];
    if it.hands.work.is_some_and(|work| it.agent_lives(work.life)) {
        let (at, what) = (world.now + LOOK_AGAIN, What::Conclude(end));
        return world.plan(at, host, Event::Given { life, task, what });
    }
    world.driver.ends.push(end.report);
    report(world, host, task, &Came::Concluded);
}

/// Takes the outcome of a session, or starts it, or waits for who is there.
fn attach(world: &mut Hosts, host: usize, life: u32, task: Task, call: Box<SessionCall>) {
    if world.hosts[host].hands.task != Some(task) {
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
        return report(world, host, task, &Came::Answered(Ok(answer)));
    }
    let it = &mut world.hosts[host];
    if it.hands.work.is_some_and(|work| it.agent_lives(work.life)) {
        let at = world.now + LOOK_AGAIN;
        let what = What::Session(call);
        return world.plan(at, host, Event::Given { life, task, what });
    }
    let work = Work {
        life,
        task,
        epoch: call.epoch,
        number: call.number,
    };
    it.hands.work = Some(work);
    *world.driver.losses.begun.entry(call.number).or_default() += 1;
    let at = world.now + world.script.takes(call.number);
    world.plan(at, host, Event::SessionOver(work));
}

/// Writes what a session did, through the fence, and reports it after that.
pub(super) fn session_over(world: &mut Hosts, host: usize, work: Work) {
    let hands = &mut world.hosts[host].hands;
    // It was ended before.
    if hands.work != Some(work) {
        return;
    }
    hands.work = None;
    let (at, before) = (world.at(), world.store.ledger());
    let (result, ledger) = world.script.perform(work.number, at, before);
    let number = work.number;
    let ended = RunFact::SessionEnded {
        at,
        number,
        result,
        ledger: Ok(ledger),
    };
    let written = world.store.end_session(work.epoch, number, ledger, &ended);
    // An agent that outlived its worker has nobody to report to.
    if !world.hosts[host].lives(work.life) {
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

/// Returns how often a session began beside the time that it came to its end.
fn lost(world: &Hosts, number: u32) -> u32 {
    let begun = world.driver.losses.begun.get(&number);
    begun.copied().unwrap_or_default().saturating_sub(1)
}

fn ended_with(ended: &RunFact, lost: u32) -> Came {
    let RunFact::SessionEnded { result, ledger, .. } = ended else {
        panic!("{ended:?} is no outcome");
    };
    let outcome = HostedOutcome::new(result.clone(), ledger.clone()).after_losses(lost);
    Came::Answered(Ok(SessionAnswer::Ended(Box::new(outcome))))
}

fn fenced(world: &mut Hosts, host: usize, task: Task) {
    let latest = Epoch(world.store.next_epoch().0 - 1);
    report(
        world,
        host,
        task,
        &Came::Answered(Ok(SessionAnswer::Fenced { latest })),
    );
}

/// Tells the server what came of a task. That may come late, twice or not at all.
fn report(world: &mut Hosts, host: usize, task: Task, came: &Came) {
    // Whatever becomes of the report, the worker is done with it.
    let hands = &mut world.hosts[host].hands;
    hands.task = hands.task.filter(|mine| *mine != task);
    let copies = world.random.between(1, 4) / 4 + 1;
    world.tally.duplicates += copies - 1;
    for _ in 0..copies {
        if world.random.happens(5) {
            continue;
        }
        let at = world.now + world.random.between(0, 6000);
        let came = Box::new(came.clone());
        world.plan_elsewhere(at, Event::Done { task, came });
    }
}
