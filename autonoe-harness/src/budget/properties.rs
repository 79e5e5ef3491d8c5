//! Property tests of budget accounts under arbitrary operations.

use std::collections::BTreeMap;
use std::time::Duration;

use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_core::{Budget, CostUsd};
use proptest::prelude::*;

use super::{Account, AccountError, Allowance, Spending};

/// One operation on the accounts. Names are small numbers.
#[derive(Clone, Debug)]
enum Step {
    Reserve {
        parent: u8,
        name: u8,
        requested: u64,
    },
    Spend {
        name: u8,
        amount: u64,
    },
    Settle {
        name: u8,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0u8..6;
    let step = prop_oneof![
        (name.clone(), name.clone(), 0u64..60).prop_map(|(parent, name, requested)| {
            Step::Reserve {
                parent,
                name,
                requested,
            }
        }),
        (name.clone(), 0u64..40).prop_map(|(name, amount)| Step::Spend { name, amount }),
        name.prop_map(|name| Step::Settle { name }),
    ];
    prop::collection::vec(step, 0..60)
}

/// Factor of each kind relative to the first. All differ, so that no kind can be mistaken for
/// another.
const TIMES: [u64; 4] = [1, 3, 5, 7];

fn allowance(amount: u64) -> Allowance {
    let [cost, tokens, time, sessions] = TIMES.map(|times| times * amount);
    let budget = Budget::default()
        .with_cost(CostUsd::from_picos(cost))
        .with_tokens(tokens)
        .with_time(Duration::from_millis(time));
    Allowance::new(budget).sessions(sessions)
}

fn spending(amount: u64) -> Spending {
    let [cost, tokens, time, sessions] = TIMES.map(|times| times * amount);
    let tokens = TokenUsage {
        input: tokens,
        ..TokenUsage::default()
    };
    let cost = Some(CostUsd::from_picos(cost));
    let mut spending = Spending::from_session(cost, tokens, Duration::from_millis(time));
    spending.sessions = sessions;
    spending
}

/// Nested accounts: a child account is opened with the allowance reserved for it in its parent.
#[derive(Clone, Debug, PartialEq)]
struct Tree {
    accounts: BTreeMap<u8, Account>,
    parents: BTreeMap<u8, u8>,
}

const ROOT: u8 = 0;

impl Tree {
    fn new(total: u64) -> Self {
        Self {
            accounts: BTreeMap::from([(ROOT, Account::new(allowance(total)))]),
            parents: BTreeMap::new(),
        }
    }

    /// Returns `None` if the parent is not open or the child exists already.
    fn reserve(
        &mut self,
        parent: u8,
        child: u8,
        requested: u64,
    ) -> Option<Result<(), AccountError>> {
        if self.accounts.contains_key(&child) {
            return None;
        }
        let account = self.accounts.get_mut(&parent)?;
        let reserved = account.reserve(child.to_string(), allowance(requested));
        if reserved.is_ok() {
            self.accounts
                .insert(child, Account::new(allowance(requested)));
            self.parents.insert(child, parent);
        }
        Some(reserved)
    }

    fn spend(&mut self, name: u8, amount: u64) -> bool {
        let account = self.accounts.get_mut(&name);
        account.map(|it| it.charge(&spending(amount))).is_some()
    }

    /// Returns `false` if the account is the root, is not open, or has open children.
    fn settle(&mut self, name: u8) -> bool {
        let pays = self.parents.values().any(|parent| *parent == name);
        let Some(parent) = self.parents.get(&name).copied().filter(|_| !pays) else {
            return false;
        };
        let child = self.accounts.remove(&name).expect("it is open");
        let parent_account = self.accounts.get_mut(&parent).expect("it is open");
        parent_account.close_reservation(&name.to_string(), &child.spent());
        self.parents.remove(&name);
        true
    }

    fn free(&self, name: u8) -> u64 {
        let free = self.accounts[&name].free();
        let amounts = free.amounts();
        let first = amounts[0].expect("there is a limit");
        let expected = TIMES.map(|times| Some(times * first));
        assert_eq!(amounts, expected, "{free:?}");
        first
    }

    fn spent_in_all(&self) -> u64 {
        let spent = self.accounts.values().map(|it| it.spent().amounts()[0]);
        spent.sum()
    }

    fn close_all(&mut self) {
        while (0..6).any(|name| self.settle(name)) {}
    }
}

proptest! {
    #[test]
    fn amounts_are_neither_created_nor_lost(total in 0u64..200, steps in steps()) {
        let mut tree = Tree::new(total);
        let mut spent = 0;
        for step in steps {
            match step {
                Step::Reserve { parent, name, requested } => {
                    let before = tree.clone();
                    match tree.reserve(parent, name, requested) {
                        Some(Ok(())) => {
                            let had = before.free(parent);
                            prop_assert!(requested <= had);
                            prop_assert_eq!(tree.free(parent), had - requested);
                        }
                        Some(Err(error)) => {
                            prop_assert_eq!(&tree, &before);
                            if let AccountError::InsufficientBudget { free, .. } = error {
                                prop_assert!(requested > free);
                            }
                        }
                        None => {}
                    }
                }
                Step::Spend { name, amount } => {
                    if tree.spend(name, amount) {
                        spent += amount;
                    }
                }
                Step::Settle { name } => {
                    tree.settle(name);
                }
            }
            prop_assert_eq!(tree.spent_in_all(), spent);
        }
        tree.close_all();
        prop_assert_eq!(tree.free(ROOT), total.saturating_sub(spent));
    }

    #[test]
    fn spending_only_free_amounts_overdraws_no_account(total in 0u64..200, steps in steps()) {
        let mut tree = Tree::new(total);
        let mut allowed = BTreeMap::from([(ROOT, total)]);
        for step in steps {
            match step {
                Step::Reserve { parent, name, requested } => {
                    if let Some(Ok(())) = tree.reserve(parent, name, requested) {
                        allowed.insert(name, requested);
                    }
                }
                Step::Spend { name, amount } if tree.accounts.contains_key(&name) => {
                    tree.spend(name, amount.min(tree.free(name)));
                }
                Step::Spend { .. } => {}
                Step::Settle { name } => {
                    let before = tree.free(ROOT);
                    if tree.settle(name) {
                        prop_assert!(tree.free(ROOT) >= before);
                    }
                }
            }
            for (name, account) in &tree.accounts {
                prop_assert!(account.spent().amounts()[0] <= allowed[name]);
            }
        }
    }

    #[test]
    fn an_account_survives_serialisation(total in 0u64..200, steps in steps()) {
        let mut account = Account::new(allowance(total));
        for step in steps {
            match step {
                Step::Reserve { name, requested, .. } => {
                    let _ = account.reserve(name.to_string(), allowance(requested));
                }
                Step::Spend { amount, .. } => account.charge(&spending(amount)),
                Step::Settle { name } => account.close_reservation(&name.to_string(), &spending(3)),
            }
        }

        let text = serde_json::to_string(&account).expect("it is data");

        prop_assert_eq!(serde_json::from_str::<Account>(&text).expect("the same"), account);
    }
}

#[test]
fn a_reservation_whose_cost_is_unknown_returns_no_money() {
    let mut account = Account::new(allowance(100));
    account.reserve("one", allowance(40)).expect("free");
    let tokens = TokenUsage::default();
    let spending = Spending::from_session(None, tokens, Duration::from_millis(1));

    account.close_reservation("one", &spending);

    let free = account.free();
    assert_eq!(free.budget.cost_usd, Some(CostUsd::from_picos(60)));
    assert_eq!(free.budget.tokens, Some(300));
    assert_eq!(free.sessions, Some(699));
}

#[test]
fn an_estimate_is_charged_and_is_still_unknown() {
    let mut account = Account::new(allowance(100));

    account.charge_estimate(&spending(10));

    assert_eq!(account.free(), allowance(90));
    assert_eq!(account.spent().spent.cost, CostTotal::unknown());
    assert_eq!(account.spent().sessions, 70);
}

#[test]
fn an_unlimited_reservation_needs_an_unlimited_account() {
    let mut account = Account::new(allowance(100));

    let refused = account.reserve("one", Allowance::default());

    let message = refused.expect_err("it has no limit").to_string();
    assert_eq!(
        message,
        "cannot reserve the cost budget of \"one\": it needs no limit, and $0.0000000001 is \
         left"
    );
    let mut unlimited = Account::new(Allowance::default());
    unlimited.reserve("one", allowance(5)).expect("all is free");
    unlimited
        .reserve("two", Allowance::default())
        .expect("all is free");
}
