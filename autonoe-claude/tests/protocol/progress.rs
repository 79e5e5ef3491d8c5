//! What people are shown while the program says nothing.

use std::sync::Arc;

use autonoe_claude::events::Busy;
use autonoe_claude::wire::Line;
use autonoe_core::{Events, RunObserver, SeededIds, SystemClock};
use autonoe_testkit::EventLog;

use crate::transcript::{Step, all};

/// Returns what is shown of the conversations whose names end like this.
fn shown(scenario: &str) -> Vec<Vec<String>> {
    let transcripts = all().into_iter().filter(|it| it.name.ends_with(scenario));
    let of = |steps: Vec<Step>| {
        let log = Arc::new(EventLog::new());
        let observers: Vec<Arc<dyn RunObserver>> = vec![log.clone()];
        let ids = Arc::new(SeededIds::new(1));
        let mut busy = Busy::new(Events::new(observers, Arc::new(SystemClock), ids));
        for step in steps {
            if let Step::Program(line) = step {
                busy.observe(&Line::from_text(&line).expect("a line").read());
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
fn a_compaction_is_shown_as_long_as_it_takes() {
    let shown = shown("l03b_compact_real");

    assert_eq!(shown.len(), 2, "one for each build");
    for events in shown {
        assert_eq!(events, ["progress_shown", "progress_hidden"]);
    }
}
