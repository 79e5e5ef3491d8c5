//! Kills members and coordinators of fleets at random: nothing is lost, done twice or left.
//!
//! The test command runs some rounds; `cargo xtask torture` runs five hundred.

mod counting;
mod killing;
mod leftovers;
mod scenario;

use std::io::Write;
use std::time::Duration;

use autonoe_harness::{FleetOrder, FleetReport};

use self::counting::Ended;
use self::killing::{Killing, Planned};
use self::scenario::{Rng, Scenario};
use crate::fleets::fixture::Project;
use crate::fleets::roles::run_coordinator;

/// Number of rounds, set by the torture command.
const ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";

/// Seed of the first round; another seed gives other rounds.
const SEED: &str = "AUTONOE_CHAOS_SEED";

#[tokio::test]
async fn tasks_end_once_despite_random_kills() {
    let (rounds, first) = (number(ROUNDS, 5), number(SEED, 4242));
    let mut life = undisturbed().await;
    let (mut kills, mut acknowledged, mut unfinished) = (0, 0, 0);

    for seed in first..first + rounds {
        let round = Round::roll(seed);
        let played = round.play(&mut life).await;
        println!("{}", played.summary);
        kills += played.kills;
        acknowledged += played.acknowledged;
        unfinished += usize::from(played.is_unfinished);
    }

    println!(
        "{rounds} rounds, {kills} kills, {acknowledged} acknowledged, {unfinished} fleets \
         reported unfinished"
    );
    assert!(acknowledged > 0);
}

/// Returns the duration of a fleet without kills, which depends on the machine.
async fn undisturbed() -> Duration {
    let mut round = Round::roll(0);
    let (order, pace) = round.order();
    let life = Killing::start(&round.project, &order, pace).until_it_ends();
    let outcome = run_coordinator(&round.project, pace).await;
    assert!(outcome.success, "{outcome:?}");
    round.ended(&order, &outcome).count().await;
    life
}

/// A fleet, and the kills in it.
struct Round {
    seed: u64,
    scenario: Scenario,
    rng: Rng,
    project: Project,
}

/// Result of a round.
struct Played {
    summary: String,
    kills: usize,
    acknowledged: usize,
    is_unfinished: bool,
}

impl Round {
    fn roll(seed: u64) -> Self {
        Self {
            seed,
            scenario: Scenario::of_round(seed),
            rng: Rng::new(seed),
            project: Project::with_git(),
        }
    }

    fn order(&mut self) -> (FleetOrder, Duration) {
        let order = self.scenario.order(&mut self.rng);
        let pace = self.rng.time_below(Duration::from_millis(50));
        (order, pace)
    }

    fn ended<'a>(&'a self, order: &'a FleetOrder, outcome: &'a FleetReport) -> Ended<'a> {
        Ended {
            project: &self.project,
            scenario: self.scenario,
            order,
            outcome,
        }
    }

    async fn play(mut self, life: &mut Duration) -> Played {
        let (order, pace) = self.order();
        let mut killing = Killing::start(&self.project, &order, pace);
        let on_panic = ReportOnPanic(&self.project, self.seed, self.scenario);
        let planned = killing.kill_at_random(&mut self.rng, self.scenario.share_of(*life));
        let life_time = killing.until_it_ends();
        // Kills should happen while there are processes to kill, however busy the machine is.
        *life = match planned {
            Planned::All => *life * 11 / 10,
            Planned::Some => (*life).min(life_time * 2),
        };
        let kills = std::mem::take(&mut killing.kills);

        let outcome = run_coordinator(&self.project, pace).await;

        let acknowledged = self.ended(&order, &outcome).count().await;
        drop(on_panic);
        Played {
            summary: format!(
                "round {}: {:?}, {life_time:?}, killed {kills:?}, success {}",
                self.seed, self.scenario, outcome.success
            ),
            kills: kills.len(),
            acknowledged,
            is_unfinished: !outcome.success,
        }
    }
}

/// Prints the details of a round that fails.
struct ReportOnPanic<'a>(&'a Project, u64, Scenario);

impl Drop for ReportOnPanic<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let Self(project, seed, scenario) = self;
        let mut output = format!("{scenario:?} failed; again with {SEED}={seed} {ROUNDS}=1\n");
        output +=
            &std::fs::read_to_string(project.sibling_path("complaints.log")).unwrap_or_default();
        for entry in project.ledger().entries() {
            output += &format!("{entry:?}\n");
        }
        let home = project.home();
        output += &home.log("f", 99).unwrap_or_default().join("\n");
        for folder in home.member_folders("f").unwrap_or_default() {
            let lines = folder.log(99).unwrap_or_default();
            output += &format!("\n--- {}\n{}", folder.id(), lines.join("\n"));
        }
        // A failure to print cannot be handled.
        let _ = writeln!(std::io::stderr(), "{output}");
    }
}

fn number(name: &str, usual: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(usual, |text| text.parse().expect("a number"))
}
