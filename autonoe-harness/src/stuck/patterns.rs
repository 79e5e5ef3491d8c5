//! Patterns at the end of a row.

/// Counts how many items at the end of `items` are the same as the last.
pub(super) fn run_at_end<T: PartialEq>(items: impl DoubleEndedIterator<Item = T>) -> usize {
    let mut items = items.rev();
    let Some(last) = items.next() else { return 0 };
    1 + items.take_while(|item| *item == last).count()
}

/// Counts how many items at the end of `items` are so.
pub(super) fn such_at_end<T>(
    items: impl DoubleEndedIterator<Item = T>,
    is_so: impl Fn(&T) -> bool,
) -> usize {
    items.rev().take_while(is_so).count()
}

/// Counts how often two different items alternate at the end of `items`, in pairs.
pub(super) fn pairs_at_end<T: PartialEq>(items: &[T]) -> usize {
    let [.., before, last] = items else { return 0 };
    if before == last {
        return 0;
    }
    let expected = [last, before].into_iter().cycle();
    let alternating = items.iter().rev().zip(expected);
    alternating
        .take_while(|(item, expected)| item == expected)
        .count()
        / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_at_the_end_is_counted() {
        for (items, run, pairs) in [
            ("", 0, 0),
            ("a", 1, 0),
            ("aa", 2, 0),
            ("ab", 1, 1),
            ("abab", 1, 2),
            ("xabab", 1, 2),
            ("babab", 1, 2),
            ("ababb", 2, 0),
            ("ababc", 1, 1),
            ("aaab", 1, 1),
        ] {
            let items: Vec<char> = items.chars().collect();
            assert_eq!(run_at_end(items.iter()), run, "{items:?}");
            assert_eq!(pairs_at_end(&items), pairs, "{items:?}");
        }
    }
}
