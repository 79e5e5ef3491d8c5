//! What harnesses share.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use autonoe_harness::{
    ArtifactName, Cursor, HarnessId, NewHarnessEvent, Scope, SharedContext, SharedError, StateError,
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

struct Place {
    dir: TempDir,
    shared: SharedContext,
}

impl Place {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join(".harness/shared");
        let shared = SharedContext::open(&folder).await.expect("it opens");
        Self { dir, shared }
    }

    /// Opens the same folder again, as another process would.
    async fn again(&self) -> SharedContext {
        let folder = self.dir.path().join(".harness/shared");
        SharedContext::open(&folder).await.expect("it opens")
    }

    fn file(&self, text: &str) -> PathBuf {
        let path = self.dir.path().join("out.txt");
        fs::write(&path, text).expect("writable");
        path
    }

    async fn publish(&self, text: &str) -> autonoe_harness::Artifact {
        let (path, harness) = (self.file(text), HarnessId::new("a"));
        let metadata = json!({"lines": 1});
        self.shared
            .publish_artifact(&name(), &path, &harness, &metadata, NOW)
            .await
            .expect("it is published")
    }
}

fn name() -> ArtifactName {
    "report.txt".parse().expect("a name")
}

#[tokio::test]
async fn the_values_of_a_harness_are_not_everybodys() {
    let place = Place::new().await;
    let own = Scope::Harness(HarnessId::new("a"));
    let (shared, one) = (&place.shared, json!({"n": [1, null]}));
    shared
        .set(&Scope::Global, "k", &one, NOW)
        .await
        .expect("kept");
    shared.set(&own, "k", &json!(2), NOW).await.expect("kept");
    shared.set(&own, "k", &json!(3), NOW).await.expect("kept");

    let other = place.again().await;

    let everybodys = other.get(&Scope::Global, "k").await.expect("read");
    assert_eq!(everybodys, Some(one));
    assert_eq!(other.get(&own, "k").await.expect("read"), Some(json!(3)));
    let tricky = Scope::Harness(HarnessId::new("global"));
    assert_eq!(other.get(&tricky, "k").await.expect("read"), None);
    assert!(other.remove(&own, "k").await.expect("removed"));
    assert!(!other.remove(&own, "k").await.expect("it is gone"));
    assert_eq!(shared.values(&own).await.expect("read"), BTreeMap::new());
    shared.integrity_check().await.expect("it is whole");
}

#[tokio::test]
async fn of_two_who_replace_a_value_one_does() {
    let place = Place::new().await;
    let other = place.again().await;
    let everybodys = Scope::Global;

    let first = place
        .shared
        .replace(&everybodys, "k", None, &json!(1), NOW)
        .await;
    let second = other.replace(&everybodys, "k", None, &json!(2), NOW).await;
    let third = other
        .replace(&everybodys, "k", Some(&json!(1)), &json!(3), NOW)
        .await;

    let done = [first, second, third].map(|done| done.expect("asked"));
    assert_eq!(done, [true, false, true]);
    let value = place.shared.get(&everybodys, "k").await.expect("read");
    assert_eq!(value, Some(json!(3)));
}

#[tokio::test]
async fn a_file_is_published_and_consumed_by_name() {
    let place = Place::new().await;
    let published = place.publish("All is well.").await;

    let consumed = place.again().await.consume_artifact(&name()).await;

    let consumed = consumed.expect("it is there");
    assert_eq!(consumed, published);
    assert_eq!(consumed.size, 12);
    assert_eq!(consumed.metadata, json!({"lines": 1}));
    let text = fs::read_to_string(&consumed.path).expect("readable");
    assert_eq!(text, "All is well.");
    let artifacts = place.dir.path().join(".harness/shared/artifacts");
    assert!(consumed.path.starts_with(&artifacts));
    assert_eq!(
        fs::read_dir(artifacts).expect("a folder").count(),
        1,
        "no litter"
    );
}

#[tokio::test]
async fn who_reads_the_version_before_is_not_disturbed() {
    let place = Place::new().await;
    let first = place.publish("one").await;
    let second = place.publish("two").await;

    let consumed = place.shared.consume_artifact(&name()).await.expect("there");

    assert_eq!(consumed, second);
    assert!(second.version > first.version);
    assert_eq!(fs::read_to_string(&first.path).expect("readable"), "one");
    let versions = place.shared.versions(&name()).await.expect("read");
    assert_eq!(versions, [first, second.clone()]);
    assert_eq!(place.shared.artifacts().await.expect("read"), [second]);
}

#[tokio::test]
async fn the_same_file_published_again_is_the_same_file() {
    let place = Place::new().await;
    let first = place.publish("one").await;
    let again = place.publish("one").await;

    assert_eq!(first.path, again.path);
    assert!(again.version > first.version);
    place
        .shared
        .consume_artifact(&name())
        .await
        .expect("it is whole");
}

#[tokio::test]
async fn what_was_changed_after_it_was_published_is_refused() {
    let place = Place::new().await;
    let published = place.publish("one").await;
    fs::remove_file(&published.path).expect("it can be removed");
    fs::write(&published.path, "two").expect("writable");

    let refused = place.shared.consume_artifact(&name()).await;

    assert!(
        matches!(refused, Err(SharedError::Changed { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn what_nobody_published_is_not_there() {
    let place = Place::new().await;

    let refused = place.shared.consume_artifact(&name()).await;

    assert!(
        matches!(refused, Err(SharedError::Unknown(_))),
        "{refused:?}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_symlink_is_neither_published_nor_consumed() {
    let place = Place::new().await;
    let (link, harness) = (place.dir.path().join("link"), HarnessId::new("a"));
    std::os::unix::fs::symlink(place.file("secret"), &link).expect("a link");
    for path in [link.as_path(), place.dir.path()] {
        let refused = place
            .shared
            .publish_artifact(&name(), path, &harness, &Value::Null, NOW)
            .await;
        assert!(
            matches!(refused, Err(SharedError::NotAFile(_))),
            "{refused:?}"
        );
    }
    let published = place.publish("one").await;
    fs::remove_file(&published.path).expect("it can be removed");
    std::os::unix::fs::symlink(place.file("one"), &published.path).expect("a link");

    let refused = place.shared.consume_artifact(&name()).await;

    assert!(
        matches!(refused, Err(SharedError::NotAFile(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_damaged_file_of_values_is_refused_and_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("context.db");
    fs::write(&path, "{\"key\": 1}").expect("writable");

    let refused = SharedContext::open(dir.path())
        .await
        .expect_err("it is none");

    let is_foreign = matches!(refused, SharedError::State(StateError::Foreign { .. }));
    assert!(is_foreign, "{refused}");
    assert_eq!(fs::read(&path).expect("readable"), b"{\"key\": 1}");
}

#[tokio::test]
async fn events_are_read_on_from_a_cursor() {
    let place = Place::new().await;
    let other = place.again().await;
    let emit = async |shared: &SharedContext, kind: &str| {
        let event = NewHarnessEvent::new(kind, NOW).about(HarnessId::new("a"));
        shared.emit_event(&event).await.expect("it is kept")
    };
    emit(&place.shared, "spawn").await;
    let second = emit(&other, "progress").await;
    emit(&place.shared, "complete").await;

    let all = other.events_since(Cursor::START, 10).await.expect("read");
    let later = other.events_since(second, 10).await.expect("read");

    let kinds: Vec<_> = all.iter().map(|read| read.event.kind.as_str()).collect();
    assert_eq!(kinds, ["spawn", "progress", "complete"]);
    assert_eq!(later, all[2..]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whoever_sets_values_in_whatever_order_the_last_one_counts(
        steps in proptest::collection::vec((0..2_u8, 0..3_u8, 0..3_u8, proptest::option::of(0..4_u8)), 0..30)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let place = Place::new().await;
            let other = place.again().await;
            let mut expected: BTreeMap<(Scope, String), Value> = BTreeMap::new();
            for (who, scope, key, value) in steps {
                let shared = if who == 0 { &place.shared } else { &other };
                let scope = match scope {
                    0 => Scope::Global,
                    harness => Scope::Harness(HarnessId::new(harness.to_string())),
                };
                let key = key.to_string();
                match value {
                    Some(value) => {
                        let value = json!([value]);
                        shared.set(&scope, &key, &value, NOW).await.expect("kept");
                        expected.insert((scope, key), value);
                    }
                    None => {
                        let was_there = shared.remove(&scope, &key).await.expect("removed");
                        assert_eq!(was_there, expected.remove(&(scope, key)).is_some());
                    }
                }
            }
            let scopes = [Scope::Global]
                .into_iter()
                .chain((1..3).map(|harness| Scope::Harness(HarnessId::new(harness.to_string()))));
            for scope in scopes {
                let own = expected.iter().filter(|((own, _), _)| *own == scope);
                let own: BTreeMap<_, _> =
                    own.map(|((_, key), value)| (key.clone(), value.clone())).collect();
                assert_eq!(other.values(&scope).await.expect("read"), own);
            }
        });
    }
}
