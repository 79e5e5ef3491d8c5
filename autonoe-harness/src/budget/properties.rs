//! What holds of accounts, whatever is done with them.

use std::time::Duration;

use autonoe_core::{Budget, CostUsd, TokenUsage};
use proptest::prelude::*;

use super::{AccountError, Accounts, Allowance, Spending};

/// One thing that is done with accounts; names are numbers of a few.
#[derive(Clone, Debug)]
enum Step {
    Reserve { parent: u8, name: u8, asked: u64 },
    Spend { name: u8, amount: u64 },
    Settle { name: u8 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0u8..6;
    let step = prop_oneof![
        (name.clone(), name.clone(), 0u64..60).prop_map(|(parent, name, asked)| Step::Reserve {
            parent,
            name,
            asked
        }),
        (name.clone(), 0u64..40).prop_map(|(name, amount)| Step::Spend { name, amount }),
        name.prop_map(|name| Step::Settle { name }),
    ];
    prop::collection::vec(step, 0..60)
}

/// How much of each kind there is for one of the first: never the same, so that none can be taken
/// for another.
const TIMES: [u64; 4] = [1, 3, 5, 7];

fn allowance(amount: u64) -> Allowance {
    let [cost, tokens, time, sessions] = TIMES.map(|times| times * amount);
    let budget = Budget::default()
        .with_cost(CostUsd::from_picos(cost))
        .with_tokens(tokens)
        .with_time(Duration::from_millis(time));
    Allowance::new(budget).with_sessions(sessions)
}

fn spending(amount: u64) -> Spending {
    let [cost, tokens, time, sessions] = TIMES.map(|times| times * amount);
    let tokens = TokenUsage {
        input: tokens,
        ..TokenUsage::default()
    };
    let cost = Some(CostUsd::from_picos(cost));
    let mut spending = Spending::of_session(cost, tokens, Duration::from_millis(time));
    spending.sessions = sessions;
    spending
}

fn name(number: u8) -> String {
    number.to_string()
}

fn free(accounts: &Accounts, name: &str) -> u64 {
    let free = accounts.free(name).expect("it is open");
    let amounts = free.amounts();
    let first = amounts[0].expect("there is a limit");
    let expected = TIMES.map(|times| Some(times * first));
    assert_eq!(amounts, expected, "{free:?}");
    first
}

fn spent_in_all(accounts: &Accounts) -> u64 {
    accounts.names().map(|name| accounts.spent(name)[0]).sum()
}

proptest! {
    #[test]
    fn nothing_is_made_and_nothing_is_lost(total in 0u64..200, steps in steps()) {
        let mut accounts = Accounts::new("0", allowance(total));
        let mut spent = 0;
        for step in steps {
            match step {
                Step::Reserve { parent, name: child, asked } => {
                    let (parent, child) = (name(parent), name(child));
                    let before = accounts.clone();
                    match accounts.reserve(&parent, child, allowance(asked)) {
                        Ok(()) => {
                            let had = free(&before, &parent);
                            prop_assert!(asked <= had);
                            prop_assert_eq!(free(&accounts, &parent), had - asked);
                        }
                        Err(error) => {
                            prop_assert_eq!(&accounts, &before);
                            if let AccountError::CannotBePaid { free, .. } = error {
                                prop_assert!(asked > free);
                            }
                        }
                    }
                }
                Step::Spend { name: account, amount } => {
                    if accounts.spend(&name(account), &spending(amount)).is_ok() {
                        spent += amount;
                    }
                }
                Step::Settle { name: account } => {
                    let before = free(&accounts, "0");
                    if accounts.settle(&name(account)).is_ok() {
                        prop_assert!(free(&accounts, "0") >= before);
                    }
                }
            }
            prop_assert_eq!(spent_in_all(&accounts), spent);
        }
        close_all(&mut accounts);
        prop_assert_eq!(free(&accounts, "0"), total.saturating_sub(spent));
    }

    #[test]
    fn who_spends_only_what_is_free_overdraws_nobody(total in 0u64..200, steps in steps()) {
        let mut accounts = Accounts::new("0", allowance(total));
        for step in steps {
            let _ = match step {
                Step::Reserve { parent, name: child, asked } => {
                    accounts.reserve(&name(parent), name(child), allowance(asked))
                }
                Step::Spend { name: account, amount } => {
                    let account = name(account);
                    match accounts.free(&account) {
                        Ok(_) => {
                            let amount = amount.min(free(&accounts, &account));
                            accounts.spend(&account, &spending(amount))
                        }
                        Err(error) => Err(error),
                    }
                }
                Step::Settle { name: account } => accounts.settle(&name(account)),
            };
            for name in accounts.names() {
                prop_assert_eq!(accounts.overdrawn(name).expect("it is open"), None);
            }
        }
    }

    #[test]
    fn accounts_are_the_same_after_they_were_written(total in 0u64..200, steps in steps()) {
        let mut accounts = Accounts::new("0", allowance(total));
        for step in steps {
            if let Step::Reserve { parent, name: child, asked } = step {
                let _ = accounts.reserve(&name(parent), name(child), allowance(asked));
            }
        }

        let text = serde_json::to_string(&accounts).expect("they are data");

        prop_assert_eq!(serde_json::from_str::<Accounts>(&text).expect("the same"), accounts);
    }
}

fn close_all(accounts: &mut Accounts) {
    loop {
        let names: Vec<String> = accounts.names().map(str::to_owned).collect();
        let settled = names.iter().any(|name| accounts.settle(name).is_ok());
        if !settled {
            return;
        }
    }
}

#[test]
fn no_money_returns_from_an_account_with_a_cost_that_is_unknown() {
    let mut accounts = Accounts::new("all", allowance(100));
    accounts.reserve("all", "one", allowance(40)).expect("free");
    let tokens = TokenUsage::default();
    let spending = Spending::of_session(None, tokens, Duration::from_millis(1));
    accounts.spend("one", &spending).expect("open");

    accounts.settle("one").expect("open");

    let free = accounts.free("all").expect("open");
    assert_eq!(free.budget.cost_usd, Some(CostUsd::from_picos(60)));
    assert_eq!(free.budget.tokens, Some(300));
    assert_eq!(free.sessions, Some(699));
}

#[test]
fn what_has_no_limit_is_not_paid_from_what_has_one() {
    let mut accounts = Accounts::new("all", allowance(100));

    let refused = accounts.reserve("all", "one", Allowance::default());

    let said = refused.expect_err("it has no limit").to_string();
    assert_eq!(
        said,
        "\"one\" cannot be paid: no limit of money is asked for, and $0.0000000001 is left"
    );
    let mut unlimited = Accounts::new("all", Allowance::default());
    unlimited
        .reserve("all", "one", allowance(5))
        .expect("all is free");
    unlimited
        .reserve("all", "two", Allowance::default())
        .expect("all is free");
}

#[test]
fn what_is_no_tree_is_not_read() {
    let account = |parent: &str| {
        format!(
            r#"{{"parent": {parent}, "allowance": {{}}, "spent": [0, 0, 0, 0], "hasUnknownCost": false}}"#
        )
    };
    for (text, why) in [
        ("{}".to_owned(), "only one"),
        (
            format!(r#"{{"a": {}, "b": {}}}"#, account("null"), account("null")),
            "only one",
        ),
        (
            format!(
                r#"{{"a": {}, "b": {}}}"#,
                account("null"),
                account(r#""c""#)
            ),
            "there is no account \"c\"",
        ),
        (
            format!(
                r#"{{"a": {}, "b": {}, "c": {}}}"#,
                account("null"),
                account(r#""c""#),
                account(r#""b""#)
            ),
            "above itself",
        ),
    ] {
        let error = serde_json::from_str::<Accounts>(&text)
            .expect_err("no tree")
            .to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}
