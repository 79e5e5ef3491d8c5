//! Tests of the shared context of members.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use autonoe_harness::shared::{
    ArtifactName, Cursor, NewMemberEvent, Scope, SharedContext, SharedError,
};
use autonoe_harness::state::StateError;
use autonoe_harness::strategy::MemberId;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::intact::assert_intact;

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
    async fn reopened(&self) -> SharedContext {
        let folder = self.dir.path().join(".harness/shared");
        SharedContext::open(&folder).await.expect("it opens")
    }

    fn file(&self, text: &str) -> PathBuf {
        let path = self.dir.path().join("out.txt");
        fs::write(&path, text).expect("writable");
        path
    }

    async fn publish(&self, text: &str) -> autonoe_harness::shared::Artifact {
        let (path, harness) = (self.file(text), MemberId::new("a"));
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
async fn the_values_of_a_member_are_not_global() {
    let place = Place::new().await;
    let own = Scope::Member(MemberId::new("a"));
    let (shared, one) = (&place.shared, json!({"n": [1, null]}));
    shared
        .set(&Scope::Global, "k", &one, NOW)
        .await
        .expect("kept");
    shared.set(&own, "k", &json!(2), NOW).await.expect("kept");
    shared.set(&own, "k", &json!(3), NOW).await.expect("kept");

    let other = place.reopened().await;

    let everybodys = other.get(&Scope::Global, "k").await.expect("read");
    assert_eq!(everybodys, Some(one));
    assert_eq!(other.get(&own, "k").await.expect("read"), Some(json!(3)));
    let tricky = Scope::Member(MemberId::new("global"));
    assert_eq!(other.get(&tricky, "k").await.expect("read"), None);
    assert_intact(&place.dir.path().join(".harness/shared/context.db"));
}

#[tokio::test]
async fn a_file_is_published_and_consumed_by_name() {
    let place = Place::new().await;
    let published = place.publish("All is well.").await;

    let consumed = place.reopened().await.consume_artifact(&name()).await;

    let consumed = consumed.expect("it is there");
    assert_eq!(consumed, published);
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

// Shows: fleets/shared/artifacts
#[tokio::test]
async fn readers_of_the_previous_version_are_not_disturbed() {
    let place = Place::new().await;
    let first = place.publish("one").await;
    let second = place.publish("two").await;

    let consumed = place.shared.consume_artifact(&name()).await.expect("there");

    assert_eq!(consumed, second);
    assert!(second.version > first.version);
    assert_eq!(fs::read_to_string(&first.path).expect("readable"), "one");
}

#[tokio::test]
async fn the_same_file_published_again_is_the_same_file() {
    let place = Place::new().await;
    let first = place.publish("one").await;
    let second = place.publish("one").await;

    assert_eq!(first, second);
    place
        .shared
        .consume_artifact(&name())
        .await
        .expect("it is whole");

    for (member, metadata) in [("b", json!({"lines": 1})), ("b", json!({"lines": 2}))] {
        let (path, member) = (place.file("one"), MemberId::new(member));
        let published = place
            .shared
            .publish_artifact(&name(), &path, &member, &metadata, NOW)
            .await
            .expect("it is published");

        let consumed = place.shared.consume_artifact(&name()).await.expect("there");
        assert_eq!(consumed, published);
        assert_eq!(
            (consumed.source_member, consumed.metadata),
            (member, metadata)
        );
        assert_eq!(
            (consumed.sha256, consumed.path),
            (first.sha256.clone(), first.path.clone())
        );
    }
}

#[tokio::test]
async fn an_artifact_changed_after_its_publication_is_refused() {
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
async fn an_unpublished_artifact_is_unknown() {
    let place = Place::new().await;

    let refused = place.shared.consume_artifact(&name()).await;

    assert!(
        matches!(refused, Err(SharedError::Unknown(_))),
        "{refused:?}"
    );
}

// Shows: fleets/shared/artifact-names
#[cfg(unix)]
#[tokio::test]
async fn a_symlink_is_neither_published_nor_consumed() {
    let place = Place::new().await;
    let (link, harness) = (place.dir.path().join("link"), MemberId::new("a"));
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

// Shows: fleets/shared/file
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

// Shows: fleets/shared/events
#[tokio::test]
async fn events_are_read_from_a_cursor() {
    let place = Place::new().await;
    let other = place.reopened().await;
    let emit = async |shared: &SharedContext, kind: &str| {
        let event = NewMemberEvent {
            member: Some(MemberId::new("a")),
            ..NewMemberEvent::new(kind, NOW)
        };
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
    fn the_last_of_concurrent_values_counts(
        steps in proptest::collection::vec((0..2_u8, 0..3_u8, 0..3_u8, 0..4_u8), 0..30)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let place = Place::new().await;
            let other = place.reopened().await;
            let mut expected: BTreeMap<(Scope, String), Value> = BTreeMap::new();
            for (writer, scope, key, value) in steps {
                let shared = if writer == 0 { &place.shared } else { &other };
                let scope = match scope {
                    0 => Scope::Global,
                    member => Scope::Member(MemberId::new(member.to_string())),
                };
                let (key, value) = (key.to_string(), json!([value]));
                shared.set(&scope, &key, &value, NOW).await.expect("kept");
                expected.insert((scope, key), value);
            }
            for ((scope, key), value) in expected {
                let found = other.get(&scope, &key).await.expect("read");
                assert_eq!(found, Some(value));
            }
        });
    }
}
