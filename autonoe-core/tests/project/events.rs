//! What observers of sessions are told, kept for who watches from elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_core::{
    CostUsd, Epoch, Events, EventsFile, EventsPage, Failure, HostedSession, InstructionName,
    ProjectSessionHost, RecordedEvent, RetoldSessions, RunEvent, RunEventKind, RunId, RunObserver,
    SeededIds, SessionHost, SessionKey, SystemClock, TokenUsage,
};
use autonoe_testkit::{ModelUse, ScriptedAgents, SessionScript, TempProject, VirtualClock};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn events(project: &TempProject, run: &str) -> Events {
    let file = EventsFile::open(project.project(), RunId::new(run)).expect("it can be opened");
    let ids = Arc::new(SeededIds::new(1));
    Events::new(vec![Arc::new(file)], Arc::new(SystemClock), ids)
}

fn warn(events: &Events, message: &str) {
    events.emit(RunEventKind::Warning { message });
}

/// Reads all pages, from a place on.
fn read(project: &TempProject, run: &str, from: u64) -> (Vec<String>, u64) {
    let (mut messages, mut after) = (Vec::new(), from);
    loop {
        let page = EventsPage::read(project.project(), &RunId::new(run), after);
        let page = page.expect("it can be read");
        let told = page.events.iter();
        messages.extend(told.map(|it| it["message"].as_str().expect("a warning").to_owned()));
        after = page.next;
        if page.is_last {
            return (messages, after);
        }
    }
}

fn path(project: &TempProject) -> std::path::PathBuf {
    project.project().events_dir().join("events.jsonl")
}

#[test]
fn a_run_is_given_its_own_events_in_order_and_each_once() {
    let project = TempProject::new();
    let (shop, other) = (events(&project, "shop"), "other");
    warn(&shop, "one");
    warn(&events(&project, other), "of another run");
    let (first, place) = read(&project, "shop", 0);
    warn(&events(&project, "shop"), "two");

    let (second, _) = read(&project, "shop", place);

    assert_eq!((first, second), (vec!["one".into()], vec!["two".into()]));
}

#[test]
fn a_file_that_has_grown_large_is_put_aside_and_nothing_is_missed_by_who_reads_on() {
    let project = TempProject::new();
    let long = "x".repeat(30_000);
    let mut expected = Vec::new();
    let mut seen = Vec::new();
    let mut place = 0;
    // Two files are put aside meanwhile, and the first of them is gone in the end.
    for session in 0..4 {
        let shop = events(&project, "shop");
        for number in 0..300 {
            let message = format!("{session}.{number} {long}");
            warn(&shop, &message);
            expected.push(message);
        }
        let (messages, next) = read(&project, "shop", place);
        seen.extend(messages);
        place = next;
    }

    assert!(seen == expected, "{} of {}", seen.len(), expected.len());
    let kept = fs::read_dir(project.project().events_dir()).expect("readable");
    let kept: BTreeSet<_> = kept
        .map(|it| {
            it.expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    let names = [".gitignore", "events.1.jsonl", "events.jsonl"];
    assert_eq!(kept, names.map(String::from).into());
}

#[test]
fn what_a_kill_left_of_a_line_is_cut_off() {
    let project = TempProject::new();
    warn(&events(&project, "shop"), "one");
    let whole = fs::read(path(&project)).expect("readable");
    let half = &whole[whole.len() - 30..whole.len() - 10];
    fs::write(path(&project), [&whole, half].concat()).expect("writable");

    let (torn, place) = read(&project, "shop", 0);
    warn(&events(&project, "shop"), "two");
    let (rest, _) = read(&project, "shop", place);

    assert_eq!((torn, rest), (vec!["one".into()], vec!["two".into()]));
}

#[test]
fn who_knows_more_than_there_is_begins_anew() {
    let project = TempProject::new();
    warn(&events(&project, "shop"), "one");
    let (_, place) = read(&project, "shop", 0);
    fs::remove_file(path(&project)).expect("ours");
    warn(&events(&project, "shop"), "new");

    let page = EventsPage::read(project.project(), &RunId::new("shop"), place + 1000);
    let page = page.expect("it can be read");
    let (anew, _) = read(&project, "shop", page.next);

    assert!(page.next < place && !page.is_last, "{page:?}");
    assert_eq!(anew, ["new"]);
}

#[test]
fn a_kill_while_a_file_is_put_aside_loses_nothing_and_tells_nothing_twice() {
    let project = TempProject::new();
    warn(&events(&project, "shop"), "one");
    let (_, place) = read(&project, "shop", 0);
    let earlier = project.project().events_dir().join("events.1.jsonl");
    fs::rename(path(&project), earlier).expect("ours");

    let (nothing, still) = read(&project, "shop", place);
    fs::write(path(&project), "").expect("writable");
    let (nothing_yet, _) = read(&project, "shop", place);
    warn(&events(&project, "shop"), "two");
    let (more, _) = read(&project, "shop", place);
    let (all, _) = read(&project, "shop", 0);

    assert_eq!((nothing.len(), still, nothing_yet.len()), (0, place, 0));
    assert_eq!(
        (more, all),
        (vec!["two".into()], vec!["one".into(), "two".into()])
    );
}

#[test]
fn a_session_does_not_fill_the_disk_with_what_it_says() {
    let project = TempProject::new();
    let shop = events(&project, "shop");
    let long = "x".repeat(30_000);
    for _ in 0..3_000 {
        warn(&shop, &long);
    }

    let (messages, _) = read(&project, "shop", 0);

    let size = fs::metadata(path(&project)).expect("there").len();
    assert!(size < 65 * 1024 * 1024, "{size}");
    let last = messages.last().expect("many");
    assert!(last.ends_with("it is too much"), "{last}");
    assert!(messages.len() > 2_000, "{}", messages.len());
}

#[test]
fn a_file_of_somebody_else_is_put_aside() {
    let project = TempProject::new();
    warn(&events(&project, "shop"), "one");
    fs::write(path(&project), "notes of mine\n").expect("writable");
    let foreign = EventsPage::read(project.project(), &RunId::new("shop"), 0);
    assert_eq!(foreign.expect("it can be read").events, Vec::<Value>::new());

    warn(&events(&project, "shop"), "two");

    assert_eq!(read(&project, "shop", 0).0, ["two"]);
    let aside = fs::read_to_string(project.project().events_dir().join("events.1.jsonl"));
    assert_eq!(aside.expect("it is kept"), "notes of mine\n");
}

#[test]
fn only_its_owner_reads_it_and_git_never_sees_it() {
    let project = TempProject::new();
    events(&project, "shop");

    let mode = fs::metadata(path(&project)).expect("there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let ignore = project.project().events_dir().join(".gitignore");
    assert_eq!(fs::read_to_string(ignore).expect("there"), "*\n");
}

#[test]
fn nothing_is_written_to_where_a_link_leads() {
    for name in ["", "events.jsonl", ".gitignore"] {
        let (project, elsewhere) = (TempProject::new(), tempfile::tempdir().expect("a folder"));
        let folder = project.project().events_dir();
        let link = match name {
            "" => folder,
            name => {
                fs::create_dir_all(&folder).expect("writable");
                folder.join(name)
            }
        };
        fs::create_dir_all(link.parent().expect("it has one")).expect("writable");
        // A file that is not there would be made.
        let target = match name {
            "" => elsewhere.path().to_owned(),
            name => elsewhere.path().join(name),
        };
        symlink(target, &link).expect("writable");

        let opened = EventsFile::open(project.project(), RunId::new("shop"));

        assert!(opened.is_err(), "{name}");
        let kept = fs::read_dir(elsewhere.path()).expect("readable").count();
        assert_eq!(kept, 0, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn texts_of_any_length_can_be_read_again(lengths in prop::collection::vec(0_usize..200_000, 1..6)) {
        let project = TempProject::new();
        let shop = events(&project, "shop");
        for length in &lengths {
            warn(&shop, &"ü".repeat(*length / 2));
        }

        let (messages, _) = read(&project, "shop", 0);

        prop_assert_eq!(messages.len(), lengths.len());
        for (message, length) in messages.iter().zip(&lengths) {
            let whole = "ü".repeat(*length / 2);
            let is_whole = *message == whole;
            let is_cut = message.contains("bytes were left out") && message.len() < whole.len();
            prop_assert!(is_whole || is_cut, "{} of {}", message.len(), length);
        }
    }
}

/// Listens, as programs are told.
fn listener() -> (Arc<dyn RunObserver>, Arc<Mutex<Vec<Value>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = told.clone();
    let observer = move |event: &RunEvent<'_>| {
        let event = serde_json::to_value(event).expect("JSON");
        heard.lock().expect("not poisoned").push(event);
    };
    (Arc::new(observer), told)
}

#[tokio::test(start_paused = true)]
async fn who_is_told_it_again_is_told_the_same() {
    let project = TempProject::new();
    let deliverable =
        json!({"id": "DL-001", "description": "x", "acceptanceCriteria": ["it is there"]});
    let script = SessionScript::new("one")
        .thinks("Where do I begin?")
        .says("I begin.")
        .uses_tool(
            "mcp__autonoe__create",
            json!({"deliverables": [deliverable]}),
        )
        .is_denied_by("bash-security", "Bash", json!({"command": "rm -rf /"}))
        .asks_model(ModelUse::new("a-model", "Yes.").with_messages(2))
        .asks_model(ModelUse::new("a-model", "").failing(Failure::retryable("busy", "later")))
        .shows("tidying up", Duration::from_secs(3))
        .uses_tokens(TokenUsage::default(), Some(CostUsd::from_cents(2)))
        .warns("It is late.")
        .says("Done.")
        .ends();
    let (observer, here) = listener();
    let agents = Arc::new(ScriptedAgents::new([script]));
    let host = ProjectSessionHost::new(project.project().clone(), agents)
        .clock(Arc::new(VirtualClock::new()))
        .configure(move |builder| builder.observer(observer.clone()));
    let key = SessionKey {
        run: RunId::new("shop"),
        number: 1,
    };
    let session = HostedSession::new(InstructionName::Initializer).prompt("Work.");
    let never = CancellationToken::new();
    let attached = host.attach_or_start(&key, Epoch(1), session, &|_| {}, never);
    attached.await.expect("it runs");

    let (observer, there) = listener();
    let ids = Arc::new(SeededIds::new(9));
    let root = Events::new(vec![observer], Arc::new(SystemClock), ids);
    let mut retold = RetoldSessions::below(root);
    let page = EventsPage::read(project.project(), &key.run, 0).expect("it can be read");
    for event in &page.events {
        let event: RecordedEvent = serde_json::from_value(event.clone()).expect("an event");
        retold.tell(&event);
    }

    let without_places = |told: &Mutex<Vec<Value>>| {
        let mut told = told.lock().expect("not poisoned").clone();
        for event in &mut told {
            let event = event.as_object_mut().expect("an object");
            for place in ["traceId", "spanId", "parentSpanId"] {
                event.remove(place);
            }
        }
        told
    };
    let mut here = without_places(&here);
    here.retain(|event| event["event"] != "flow_started");
    let kinds: BTreeSet<_> = here.iter().map(|it| it["event"].to_string()).collect();
    assert!(kinds.len() >= 14, "{kinds:?}");
    assert_eq!(without_places(&there), here);
}
