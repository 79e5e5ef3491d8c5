//! Carries out the course of a fleet on an engine.

mod answering;
mod asking;
mod finding;

use std::time::Duration;

use autonoe_core::{Placement, RunControl, RunDesk, RunId, RunSpec};
use jiff::Timestamp;

use super::coordinator::Coordinator;
use super::event::tell;
use super::watch::Watch;
use super::{CoordinationError, FleetCourse, FleetReport, FleetStep};
use crate::HarnessId;

/// A fleet whose course is carried out on an engine.
pub(super) struct Driving<'c> {
    plan: &'c Coordinator,
    course: FleetCourse,
    watch: Watch,
    /// Where it is told how far the fleet is.
    desk: Option<&'c RunDesk>,
}

impl<'c> Driving<'c> {
    pub(super) fn new(plan: &'c Coordinator, course: FleetCourse) -> Self {
        Self {
            plan,
            course,
            watch: Watch::new(plan.engine.clone(), plan.clock.clone()),
            desk: None,
        }
    }

    /// Tells a desk how far the fleet is.
    pub(super) fn reporting_to(mut self, desk: &'c RunDesk) -> Self {
        self.desk = Some(desk);
        self
    }

    /// Goes on until nothing is left to do.
    pub(super) async fn run(
        mut self,
        control: &RunControl,
    ) -> Result<FleetReport, CoordinationError> {
        self.tell();
        self.find().await?;
        loop {
            while let Some(request) = control.waiting_request() {
                self.take_request(request).await;
            }
            let step = self.course.next(self.now());
            self.tell();
            match step {
                FleetStep::Start { member, run, place } => self.start(member, run, place).await,
                FleetStep::Stop { member, run, why } => self.stop(&member, &run, &why).await,
                FleetStep::Wait { until } => self.wait(control, until).await,
                FleetStep::Finish(report) => return Ok(*report),
            }
        }
    }

    async fn start(&mut self, member: HarnessId, run: RunSpec, place: Placement) {
        let id = run.id.clone();
        let plan = self.plan;
        let submit = || plan.engine.submit(run.clone(), place.clone());
        match plan.tried(submit).await {
            Ok(_) => {
                let untold = self.course.began(self.now(), &member);
                self.watch.add(member, id.clone());
                for instruction in untold {
                    plan.tell_run(&id, instruction).await;
                }
            }
            Err(error) => {
                if error.is_no_answer() {
                    // Nobody knows whether it was taken; if it was, it is not wanted any more.
                    let cancelled = plan.engine.cancel(&id, "it was given up");
                    let cancelled = plan.answered(cancelled).await;
                    tracing::warn!(run = %id, ?cancelled, "a run may have been started");
                }
                self.course.not_started(self.now(), &member, &error);
            }
        }
        self.tell();
    }

    async fn stop(&mut self, member: &HarnessId, run: &RunId, why: &str) {
        let plan = self.plan;
        let cancelled = plan.tried(|| plan.engine.cancel(run, why)).await;
        if let Err(error) = cancelled {
            tracing::warn!(%run, %error, "a run could not be told to end");
        }
        self.course.stopped(self.now(), member);
    }

    /// Waits until something happens, and tells the course of it.
    async fn wait(&mut self, control: &RunControl, until: Option<Timestamp>) {
        let is_cut = self.course.is_cut_short();
        tokio::select! {
            biased;
            () = control.cancelled(), if !is_cut => self.course.cancel(self.plan.clock.now()),
            ends = self.watch.next_ends() => self.course.ended(self.plan.clock.now(), ends),
            request = control.next_request() => self.take_request(request).await,
            () = sleep_to(self.plan, until) => {}
        }
        self.tell();
    }

    fn now(&self) -> Timestamp {
        self.plan.clock.now()
    }

    /// Tells observers what has happened.
    fn tell(&mut self) {
        let events = self.course.take_events();
        for event in &events {
            tell(&self.plan.observers, event);
        }
        if let Some(desk) = self.desk.filter(|_| !events.is_empty()) {
            desk.report(self.course.progress());
        }
    }
}

async fn sleep_to(plan: &Coordinator, until: Option<Timestamp>) {
    let Some(until) = until else {
        return std::future::pending().await;
    };
    let left = until.duration_since(plan.clock.now());
    let left = Duration::try_from(left).unwrap_or_default();
    plan.clock.sleep(left).await;
}
