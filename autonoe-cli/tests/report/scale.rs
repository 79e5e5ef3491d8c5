//! Reports of large runs.

use autonoe_core::agent::{CostTotal, SessionReport};
use autonoe_core::ledger::{DeliverableId, Fence, LedgerState};
use autonoe_core::project::{FileDeliverableRepository, FileJournal};
use autonoe_core::run::{
    Durability, JournalLine, RunAction, RunFact, RunJournal, RunLimits, RunMachine,
};
use autonoe_core::time::Epoch;
use autonoe_core::{CostUsd, Deliverable, DeliverableRepository, DeliverableStatus, Mode, RunId};
use jiff::Timestamp;
use jiff::civil::{Date, date};

use crate::report::sample::Sample;

const SESSIONS: usize = 200;
const DELIVERABLES: usize = 1000;
const DAY: Date = date(2026, 1, 1);

/// Writes a journal without running agents, because that would take too long.
struct Large {
    journal: FileJournal,
    machine: RunMachine,
    now: Timestamp,
}

impl Large {
    fn write(&mut self, line: &JournalLine) {
        let run = RunId::new("large");
        self.now += jiff::SignedDuration::from_secs(20);
        let written = self
            .journal
            .append(&run, self.now, line, Durability::Written);
        written.expect("it can be written");
    }

    fn record(&mut self, fact: RunFact) -> RunAction {
        let action = self.machine.apply(fact.clone());
        let line = JournalLine::Fact {
            fact,
            action: action.clone(),
        };
        self.write(&line);
        action
    }
}

fn id(number: usize) -> DeliverableId {
    DeliverableId::new(format!("DL-{number:04}")).expect("an id")
}

fn planned(number: usize) -> Deliverable {
    let description = match number {
        0 => "lang ".repeat(40_000),
        1 => "W".repeat(50_000),
        number => format!("The thing with the number {number}"),
    };
    Deliverable::new(id(number), description, ["it works"]).expect("a deliverable")
}

/// A thousand deliverables, some with very long descriptions, and two hundred sessions.
pub(crate) async fn large() -> Sample {
    let sample = Sample::new();
    let limits = RunLimits::new(Mode::Run);
    let mut large = Large {
        journal: FileJournal::open(&sample.project()).expect("it can be opened"),
        machine: RunMachine::new(limits.clone()),
        now: Timestamp::from_second(1_767_225_600).expect("a time"),
    };
    let mut state = LedgerState::new(DAY);
    large.write(&JournalLine::RunStarted {
        limits,
        epoch: Epoch(1),
    });
    let (at, ledger) = (large.now, state.view());
    let mut action = large.record(RunFact::Started { at, ledger });
    loop {
        action = match action {
            RunAction::StartSession(plan) => {
                let number = plan.number as usize;
                let changes = match number {
                    1 => state.ledger.create((0..DELIVERABLES).map(planned), DAY),
                    number => (0..DELIVERABLES)
                        .filter(|place| place % (SESSIONS - 1) == number - 2)
                        .map(|place| {
                            state
                                .ledger
                                .set_status(&id(place), DeliverableStatus::Passed, DAY)
                        })
                        .collect(),
                };
                for change in changes.expect("they are legal") {
                    large.write(&JournalLine::StatusChanged {
                        session: plan.number,
                        change,
                    });
                }
                let mut result = SessionReport::completed();
                result.cost = CostTotal::known(CostUsd::from_cents(137));
                let (at, ledger) = (large.now, Ok(state.view()));
                large.record(RunFact::SessionEnded {
                    at,
                    number: plan.number,
                    result,
                    ledger,
                })
            }
            RunAction::Wait { until, .. } => {
                large.now = until;
                large.record(RunFact::WaitOver {
                    at: until,
                    ledger: Ok(state.view()),
                })
            }
            RunAction::Finish { exit } => {
                let report = large.machine.report(&RunId::new("large"), exit, large.now);
                let reported = report.deliverables.expect("the ledger was read");
                assert_eq!((report.sessions, reported.passed), (200, 1000), "{report}");
                large.write(&JournalLine::RunEnded { report });
                break;
            }
            action => panic!("nobody asked for {action:?}"),
        };
    }
    let repository = FileDeliverableRepository::open(&sample.project()).expect("it can be opened");
    let fence = Fence {
        base: None,
        epoch: Epoch(1),
    };
    repository
        .save(&state, fence)
        .await
        .expect("it can be saved");
    sample
}

#[tokio::test(start_paused = true)]
async fn a_thousand_deliverables_and_two_hundred_sessions_make_a_page_of_less_than_two_megabytes() {
    let page = large().await.page(&[]);

    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert_eq!(
        page.matches("<th scope=\"row\">").count(),
        DELIVERABLES + SESSIONS
    );
    assert!(
        page.contains(" … and 197999 more characters"),
        "it is cut off"
    );
    assert!(
        page.contains(" … and 48000 more characters"),
        "it is cut off"
    );
}
