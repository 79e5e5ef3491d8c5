//! Tests of listing and discarding what is left of a fleet.

use std::fs;

use crate::isolation::fixture::Repo;

#[tokio::test]
async fn everything_left_of_a_fleet_is_found_and_discarded() {
    let repo = Repo::new();
    let trees = repo.worktrees().await;
    let loser = repo.worktree("loser").await;
    fs::write(loser.folder().join("new.txt"), "not committed\n").expect("a file");
    let away = repo.worktree("loser.T-1.way-1").await;
    away.remove_folder_only().await.expect("all is committed");
    repo.git(&["branch", "autonoe/other/one"]);
    drop((loser, away));

    let left = trees.remaining().await.expect("a list");
    for name in &left {
        assert!(trees.discard(name).await.expect("it goes"), "{name}");
    }

    assert_eq!(left, ["loser", "loser.T-1.way-1"]);
    assert_eq!(
        trees.remaining().await.expect("a list"),
        Vec::<String>::new()
    );
    assert!(!trees.discard("loser").await.expect("nothing is there"));
    assert_eq!(repo.branches(), ["autonoe/other/one", "main"]);
    repo.is_clean();
}
