//! Whatever is done in whatever order, SQLite comes to what memory comes to.

use std::fmt::Debug;
use std::time::Duration;

use autonoe_harness::{
    Claim, Claimant, HarnessId, HarnessPlan, MemoryState, SqliteState, StateError, StateStore,
    Task, TaskEnd, TaskId, TaskPlan, TaskStatus, TaskUpdate,
};
use jiff::Timestamp;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Init(Vec<(u8, Option<u8>)>),
    Save(u8, Option<u8>),
    Claim(u8),
    Finish(usize, u8),
    GiveBack(usize),
    Renew(usize),
    Release(u8),
    Update(u8, TaskStatus, bool),
    Wait(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let task = || 0..5_u8;
    let planned = (task(), proptest::option::of(task()));
    let step = prop_oneof![
        2 => proptest::collection::vec(planned.clone(), 0..5).prop_map(Step::Init),
        3 => planned.prop_map(|(task, after)| Step::Save(task, after)),
        6 => (0..3_u8).prop_map(Step::Claim),
        4 => (any::<usize>(), 0..3_u8).prop_map(|(claim, end)| Step::Finish(claim, end)),
        1 => any::<usize>().prop_map(Step::GiveBack),
        1 => any::<usize>().prop_map(Step::Renew),
        1 => (0..3_u8).prop_map(Step::Release),
        2 => (task(), 0..5_usize, any::<bool>())
            .prop_map(|(task, status, output)| Step::Update(task, TaskStatus::ALL[status], output)),
        2 => (0..20_u8).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 0..60)
}

fn id(task: u8) -> TaskId {
    format!("t{task}").parse().expect("an id")
}

fn planned(task: u8, after: Option<u8>) -> TaskPlan {
    let plan = TaskPlan::new(Task::new(id(task).as_str(), "Do it.").expect("an id"));
    after
        .into_iter()
        .fold(plan, |plan, after| plan.after(id(after)))
}

fn end(kind: u8) -> TaskEnd {
    match kind {
        0 => TaskEnd::completed("yes"),
        1 => TaskEnd::failed("no"),
        _ => TaskEnd::cancelled("why"),
    }
}

fn claimant(owner: u8) -> Claimant {
    let lease = Duration::from_secs(10 + u64::from(owner));
    Claimant::new(format!("o{owner}")).with_lease(lease)
}

/// Does a step, and returns what was said in words that can be compared.
async fn take(
    store: &dyn StateStore,
    step: &Step,
    claims: &[Claim],
    now: Timestamp,
) -> (String, Option<Claim>) {
    fn said<T: Debug>(done: Result<T, StateError>) -> String {
        format!("{:?}", done.map_err(|error| error.to_string()))
    }
    let claim = |index: &usize| claims.get(index % claims.len().max(1));
    let words = match step {
        Step::Init(tasks) => {
            let tasks = tasks.iter().map(|(task, after)| planned(*task, *after));
            let plan = HarnessPlan::new(HarnessId::new("h"), tasks);
            said(store.init_harness(&plan, now).await)
        }
        Step::Save(task, after) => said(store.save_task(&planned(*task, *after), now).await),
        Step::Claim(owner) => {
            let claimed = store.claim_next(&claimant(*owner), now).await;
            let claim = claimed.as_ref().ok().cloned().flatten();
            return (said(claimed), claim);
        }
        Step::Finish(index, kind) => match claim(index) {
            Some(claim) => said(store.finish(claim, &end(*kind), now).await),
            None => String::new(),
        },
        Step::GiveBack(index) => match claim(index) {
            Some(claim) => said(store.give_back(claim, now).await),
            None => String::new(),
        },
        Step::Renew(index) => match claim(index) {
            Some(claim) => said(store.renew(claim, now).await),
            None => String::new(),
        },
        Step::Release(owner) => said(store.release_owner(&claimant(*owner).owner, now).await),
        Step::Update(task, status, output) => {
            let update = TaskUpdate::new(*status);
            let update = match output {
                true => update.output("half"),
                false => update,
            };
            said(store.update_task_status(&id(*task), &update, now).await)
        }
        Step::Wait(_) => String::new(),
    };
    (words, None)
}

async fn compare(steps: &[Step]) {
    let dir = tempfile::tempdir().expect("a folder");
    let memory = MemoryState::new();
    let sqlite = SqliteState::open(&dir.path().join("state.db")).await;
    let sqlite = sqlite.expect("it opens");
    let (mut claims, mut now) = (Vec::new(), Timestamp::UNIX_EPOCH);
    for step in steps {
        if let Step::Wait(seconds) = step {
            now += Duration::from_secs(u64::from(*seconds));
        }
        let (expected, claim) = take(&memory, step, &claims, now).await;
        let (found, _) = take(&sqlite, step, &claims, now).await;
        assert_eq!(found, expected, "{step:?}");
        claims.extend(claim);

        let tasks = memory.tasks().await.expect("in memory");
        assert_eq!(sqlite.tasks().await.expect("it is read"), tasks, "{step:?}");
    }
    for task in memory.tasks().await.expect("in memory") {
        let id = &task.task.id;
        let attempts = memory.attempts(id).await.expect("in memory");
        let completed = attempts
            .iter()
            .filter(|attempt| attempt.ending == Some(autonoe_harness::AttemptEnding::Completed));
        let is_updated = steps
            .iter()
            .any(|step| matches!(step, Step::Update(task, ..) if self::id(*task) == *id));
        assert!(
            is_updated || completed.count() <= 1,
            "{id} was completed more than once"
        );
        assert_eq!(sqlite.attempts(id).await.expect("it is read"), attempts);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_comes_to_what_memory_comes_to(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(compare(&steps));
    }
}
