//! Tests of the event loop between a terminal, its keys and the fleet.

use autonoe_dashboard::terminal::{Key, ViewEnd, ViewInput, show};
use autonoe_dashboard::{DashboardFeed, FleetAction, FleetPhase};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::time::Duration;
use tokio::sync::mpsc;

use crate::sample::fleet;

fn press(keys: &UnboundedSender<ViewInput>, key: Key) {
    keys.unbounded_send(ViewInput::Key(key))
        .expect("it listens");
}

fn terminal() -> Terminal<TestBackend> {
    Terminal::new(TestBackend::new(80, 24)).expect("it has cells")
}

/// Gives the view time to react; time is virtual.
async fn a_moment() {
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn key_presses_send_intents_until_quit() {
    let feed = DashboardFeed::new(fleet());
    let (intents, mut requests) = mpsc::channel(4);
    let (keys, inputs) = unbounded();
    press(&keys, Key::Char('p'));
    press(&keys, Key::Down);
    press(&keys, Key::Char('r'));
    press(&keys, Key::Char('q'));

    let end = show(&mut terminal(), &feed, inputs, &intents).await;

    assert_eq!(end, Ok(ViewEnd::Quit));
    let first = requests.recv().await.expect("it was asked for");
    assert_eq!(
        (first.member.as_str(), first.action),
        ("api", FleetAction::Pause)
    );
    let second = requests.recv().await.expect("it was asked for");
    assert_eq!(
        (second.member.as_str(), second.action),
        ("pages", FleetAction::Resume)
    );
    drop(intents);
    assert_eq!(requests.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_new_snapshot_is_drawn_without_a_key() {
    let feed = DashboardFeed::new(fleet());
    let (intents, _receiver) = mpsc::channel(4);
    let (keys, inputs) = unbounded();
    let mut terminal = terminal();
    let pushed = feed.clone();
    let person = async move {
        a_moment().await;
        pushed.update(|fleet| fleet.objective = "Build two shops".to_owned());
        a_moment().await;
        drop(keys);
    };

    let (end, ()) = tokio::join!(show(&mut terminal, &feed, inputs, &intents), person);

    assert_eq!(end, Ok(ViewEnd::InputEnded));
    let seen = terminal.backend().to_string();
    assert!(seen.contains("Build two shops"), "{seen}");
}

#[tokio::test(start_paused = true)]
async fn a_closed_feed_leaves_the_last_snapshot() {
    struct Once(std::sync::Mutex<Option<DashboardFeed>>);
    impl autonoe_dashboard::DashboardSource for Once {
        fn watch(
            &self,
        ) -> tokio::sync::watch::Receiver<std::sync::Arc<autonoe_dashboard::Dashboard>> {
            let feed = self.0.lock().expect("nobody panics").take();
            feed.expect("it is asked once").watch()
        }
    }
    let source = Once(Some(DashboardFeed::new(fleet())).into());
    let (intents, _receiver) = mpsc::channel(4);
    let (keys, inputs) = unbounded();
    let mut terminal = terminal();
    let person = async move {
        a_moment().await;
        drop(keys);
    };

    let (end, ()) = tokio::join!(show(&mut terminal, &source, inputs, &intents), person);

    assert_eq!(end, Ok(ViewEnd::InputEnded));
    let seen = terminal.backend().to_string();
    assert!(seen.contains("Build the shop"), "{seen}");
    assert!(seen.contains("no further updates"), "{seen}");
}

#[tokio::test(start_paused = true)]
async fn undelivered_intents_show_a_message() {
    for (room, taker, expected) in [
        (1, true, "too many requests"),
        (4, false, "the fleet accepts no more requests"),
    ] {
        let feed = DashboardFeed::new(fleet());
        let (intents, receiver) = mpsc::channel(room);
        let receiver = taker.then_some(receiver);
        let (keys, inputs) = unbounded();
        press(&keys, Key::Char('p'));
        press(&keys, Key::Char('p'));
        drop(keys);
        let mut terminal = terminal();

        let end = show(&mut terminal, &feed, inputs, &intents).await;

        assert_eq!(end, Ok(ViewEnd::InputEnded));
        let seen = terminal.backend().to_string();
        assert!(seen.contains(expected), "{seen}");
        drop(receiver);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_changes_all_the_time_does_not_keep_keys_waiting() {
    let feed = DashboardFeed::new(fleet());
    let (intents, _receiver) = mpsc::channel(4);
    let (keys, inputs) = unbounded();
    let pushed = feed.clone();
    let busy = async move {
        for round in 0..1000 {
            pushed.update(|fleet| fleet.elapsed = Duration::from_secs(round));
            tokio::task::yield_now().await;
        }
        pushed.update(|fleet| fleet.phase = FleetPhase::Succeeded);
        press(&keys, Key::Char('q'));
        keys
    };

    let inputs = inputs.boxed();
    let mut terminal = terminal();
    let (end, _keys) = tokio::join!(show(&mut terminal, &feed, inputs, &intents), busy);

    assert_eq!(end, Ok(ViewEnd::Quit));
}
