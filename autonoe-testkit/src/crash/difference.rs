//! Where two JSON values differ.

use std::collections::BTreeSet;

use serde_json::Value;

/// Lists where `found` is not as `expected`, by path.
pub(super) fn differences(expected: &Value, found: &Value) -> Vec<String> {
    let mut all = Vec::new();
    compare("", expected, found, &mut all);
    all
}

fn compare(path: &str, expected: &Value, found: &Value, all: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(one), Value::Object(other)) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names {
                let [one, other] = [one, other].map(|map| map.get(name).unwrap_or(&Value::Null));
                compare(&format!("{path}/{name}"), one, other, all);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                compare(&format!("{path}/{index}"), one, other, all);
            }
        }
        _ if expected == found => {}
        _ => {
            let path = if path.is_empty() { "it" } else { path };
            all.push(format!("{path} is {found} instead of {expected}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_place_that_differs_is_named_with_both_values() {
        let expected = json!({"a": [{"passed": true}, 2], "b": "x", "same": null});
        let found = json!({"a": [{"passed": false}, 2], "c": 1, "same": null});

        assert_eq!(
            differences(&expected, &found),
            [
                "/a/0/passed is false instead of true",
                "/b is null instead of \"x\"",
                "/c is 1 instead of null",
            ]
        );
        assert_eq!(
            differences(&json!([1]), &json!([1, 2])),
            ["it is [1,2] instead of [1]"]
        );
        assert_eq!(differences(&expected, &expected), Vec::<String>::new());
    }
}
