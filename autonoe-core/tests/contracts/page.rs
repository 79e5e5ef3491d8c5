//! Requirement pages: tables whose rows have an ID and name their tests.

use std::collections::BTreeMap;

/// A row of a table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The page and the line, for example `docs/contracts.md:12`.
    pub(crate) place: String,
    pub(crate) id: String,
    /// The tests that its last cell names.
    pub(crate) tests: Vec<String>,
    /// Whether its last cell gives a reason why no test can show it.
    pub(crate) has_no_test: bool,
}

/// Reads the rows of all tables of a page.
pub(crate) fn read_rows(page: &str, text: &str) -> Vec<Row> {
    let lines: Vec<&str> = text.lines().collect();
    let is_head = |at: usize| {
        let next = lines.get(at + 1);
        next.is_some_and(|next| next.starts_with("| ---"))
    };
    let rows = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| line.starts_with("| ") && !line.starts_with("| ---") && !is_head(*at));
    rows.map(|(at, line)| {
        let cells: Vec<&str> = line.trim_matches([' ', '|']).split(" | ").collect();
        let last = cells.last().copied().unwrap_or_default();
        Row {
            place: format!("{page}:{}", at + 1),
            id: cells[0].trim_matches([' ', '`']).to_owned(),
            tests: test_names(last),
            has_no_test: last.starts_with("no test: "),
        }
    })
    .collect()
}

/// Returns the names between backquotes that can be names of tests.
pub(crate) fn test_names(cell: &str) -> Vec<String> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted
        .filter(|text| is_name(text))
        .map(str::to_owned)
        .collect()
}

/// Returns whether `text` can be the name of a test.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    !text.is_empty() && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Finds rows whose tests do not carry their ID, and tests that carry an ID whose row does not name
/// them.
///
/// `tests` has the IDs that each test carries.
pub(crate) fn mistakes(rows: &[Row], tests: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut found = Vec::new();
    let mut by_id: BTreeMap<&str, &Row> = BTreeMap::new();
    for row in rows {
        let Row { place, id, .. } = row;
        if id.split('/').count() < 2 || id.contains(' ') {
            found.push(format!("{place}: {id:?} is no id"));
        }
        if let Some(first) = by_id.insert(id, row) {
            found.push(format!("{place}: {id} is also the id of {}", first.place));
        }
        if row.tests.is_empty() && !row.has_no_test {
            found.push(format!("{place}: {id} names no test and gives no reason"));
        }
        for test in &row.tests {
            match tests.get(test) {
                None => found.push(format!("{place}: {id} names {test}, which does not exist")),
                Some(ids) if !ids.contains(id) => found.push(format!(
                    "{place}: {id} names {test}, which shows {}",
                    ids.join(", ")
                )),
                Some(_) => {}
            }
        }
    }
    for (test, ids) in tests {
        for id in ids {
            match by_id.get(id.as_str()) {
                None => found.push(format!("{test} shows {id}, which is no row")),
                Some(row) if !row.tests.contains(test) => {
                    found.push(format!("{test} shows {id}, which does not name it"));
                }
                Some(_) => {}
            }
        }
    }
    found
}

#[test]
fn finds_each_kind_of_mistake() {
    let page = "\
| id | here | shown by |
| --- | --- | --- |
| spec/1/good | x | `shows_it` |
| spec/1/missing | x | `nobody_wrote_it` |
| spec/1/other | x | `shows_another` |
| spec/1/good | x | `shows_it` |
| spec/1/untested | x | |
| spec/1/untestable | x | no test: it is an absence |
| one | x | `shows_it` |
";
    let tests = [
        ("shows_it", vec!["spec/1/good", "one"]),
        ("shows_another", vec!["spec/1/another"]),
        ("shows_untested", vec!["spec/1/untested"]),
    ];
    let tests = tests.map(|(test, ids)| {
        let ids = ids.into_iter().map(str::to_owned).collect();
        (test.to_owned(), ids)
    });

    let found = mistakes(&read_rows("page.md", page), &tests.into());

    assert_eq!(
        found,
        [
            "page.md:4: spec/1/missing names nobody_wrote_it, which does not exist",
            "page.md:5: spec/1/other names shows_another, which shows spec/1/another",
            "page.md:6: spec/1/good is also the id of page.md:3",
            "page.md:7: spec/1/untested names no test and gives no reason",
            "page.md:9: \"one\" is no id",
            "shows_another shows spec/1/another, which is no row",
            "shows_untested shows spec/1/untested, which does not name it",
        ]
    );
}
