//! The operator's requests: pause, resume and cancel.

use autonoe_core::run::RunFact;
use autonoe_testkit::simulation::{FAULTS_END, Random};

use crate::simulation::facts;
use crate::simulation::local::{Event, Hosts};

/// A request of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperatorRequest {
    Pause,
    Resume,
    /// Resumes it, repeatedly until it takes effect.
    ResumeUntilDone,
    /// Cancels it, repeatedly until it takes effect.
    Cancel,
}

/// Plans the operator's requests. Each pause is followed by a resume.
pub(crate) fn plan(simulation: &mut Hosts, mut random: Random) {
    for _ in 0..random.between(0, 2) {
        let at = random.between(0, FAULTS_END);
        simulation.plan_global(at, Event::Requested(OperatorRequest::Pause));
        let at = at + random.between(1000, 40_000);
        simulation.plan_global(at, Event::Requested(OperatorRequest::Resume));
    }
    if random.chance(25) {
        let at = random.between(0, FAULTS_END);
        simulation.plan_global(at, Event::Requested(OperatorRequest::Cancel));
    }
    simulation.plan_global(
        FAULTS_END + 60_000,
        Event::Requested(OperatorRequest::ResumeUntilDone),
    );
}

/// Sends a request to the host that drives the run, as far as it is known.
pub(crate) fn send_request(simulation: &mut Hosts, wish: OperatorRequest) {
    if simulation.store.ended.is_some() {
        return;
    }
    let drives = |host: &usize| simulation.hosts[*host].state.drive.is_some();
    let driving: Vec<usize> = (0..simulation.hosts.len()).filter(drives).collect();
    for host in driving {
        simulation.plan_within(host, 1000, Event::Requested(wish));
    }
    // The request may have reached no host, or one that was overtaken.
    if matches!(
        wish,
        OperatorRequest::ResumeUntilDone | OperatorRequest::Cancel
    ) {
        let at = simulation.now + simulation.random.between(2000, 10_000);
        simulation.plan_global(at, Event::Requested(wish));
    }
}

/// Applies a request at a host.
pub(crate) fn apply_request(simulation: &mut Hosts, host: usize, wish: OperatorRequest) {
    let fact = match wish {
        OperatorRequest::Pause => RunFact::PauseRequested,
        OperatorRequest::Resume | OperatorRequest::ResumeUntilDone => RunFact::ResumeRequested {
            at: simulation.at(),
            ledger: Ok(simulation.store.ledger()),
        },
        OperatorRequest::Cancel => RunFact::Cancelled,
    };
    facts::apply(simulation, host, fact);
}
