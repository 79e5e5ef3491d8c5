//! A whole run: planning, coding, and one process.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};

use autonoe_core::ExitReason;
use autonoe_testkit::model_server::{Script, Turn};

use crate::model::{adds, shell};
use crate::runs::{passing, planning, run_in};
use crate::setting::{Place, Setting};

/// Notes the programs that live whenever the model is asked.
type Seen = Arc<Mutex<Vec<BTreeSet<u32>>>>;

fn watched(script: Script, seen: &Seen, place: &Arc<OnceLock<Place>>) -> Script {
    let (seen, place) = (seen.clone(), place.clone());
    script.then_by(move |_| {
        let place = place.get().expect("it is set");
        let programs = place.programs().into_iter().collect();
        seen.lock().expect("no panic").push(programs);
        shell("ls")
    })
}

#[tokio::test]
async fn a_run_of_several_sessions_has_one_process_of_the_program() {
    let (seen, place) = (Seen::default(), Arc::new(OnceLock::new()));
    let mut script = Script::new::<Turn>([]);
    // Three sessions: the second one ends without having passed anything.
    script = planning()
        .into_iter()
        .fold(watched(script, &seen, &place), Script::then);
    script = watched(script, &seen, &place)
        .then(adds("hello.txt", "hello"))
        .then(Turn::text("To be continued."));
    script = passing()
        .into_iter()
        .fold(watched(script, &seen, &place), Script::then);
    let setting = Setting::new(script).sandboxed();
    assert!(place.set((*setting).clone()).is_ok());

    let (report, ended) = run_in(&setting).until_it_ends().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!(report.sessions, 3, "{ended:?}");
    let seen = seen.lock().expect("no panic").clone();
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[0].len(), 1, "{seen:?}");
    assert!(seen.iter().all(|programs| *programs == seen[0]), "{seen:?}");
    setting.server.verify();
    setting.assert_nothing_is_left();
}
