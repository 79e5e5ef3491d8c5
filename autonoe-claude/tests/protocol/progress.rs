//! Progress notes for users while the program is silent.

use std::sync::Arc;

use autonoe_claude::events::ActivityTracker;
use autonoe_claude::wire::Line;
use autonoe_core::RunObserver;
use autonoe_core::event::Events;
use autonoe_core::time::{SeededIds, SystemClock};
use autonoe_testkit::EventLog;

use crate::transcript::{Step, all};

/// Returns the progress notes of the conversations whose names end like this.
fn progress_texts(scenario: &str) -> Vec<Vec<String>> {
    let transcripts = all().into_iter().filter(|it| it.name.ends_with(scenario));
    let of = |steps: Vec<Step>| {
        let log = Arc::new(EventLog::new());
        let observers: Vec<Arc<dyn RunObserver>> = vec![log.clone()];
        let ids = Arc::new(SeededIds::new(1));
        let mut busy = ActivityTracker::new(Events::new(observers, Arc::new(SystemClock), ids));
        for step in steps {
            if let Step::Program(line) = step {
                busy.observe(&Line::from_text(&line).expect("a line").parse());
            }
        }
        let events = log.json().into_iter();
        let names = events.filter_map(|event| event["event"].as_str().map(str::to_owned));
        names.collect()
    };
    transcripts.map(|transcript| of(transcript.steps)).collect()
}

// Shows: framework/callbacks/on-spinner-start-message-on
#[test]
fn a_compaction_is_reported_while_it_lasts() {
    let texts = progress_texts("l03b_compact_real");

    assert_eq!(texts.len(), 2, "one for each build");
    for events in texts {
        assert_eq!(events, ["progress_started", "progress_ended"]);
    }
}
