//! Cost and usage of the answers of `autonoe ask`.

use autonoe_app::text::format_tool_count;
use autonoe_core::agent::CostTotal;
use autonoe_core::session::PerformedSession;
use autonoe_core::time::format_duration;
use autonoe_core::tool::ToolStatus;

use crate::report::thousands;

/// Formats the usage of an answer: `$0.0123, 14s, 3 tools, 8,412 tokens`.
///
/// `total` is the cost of the whole conversation, if it has more than one answer.
pub(crate) fn cost_line(performed: &PerformedSession, total: Option<CostTotal>) -> String {
    let result = &performed.result;
    let is_answered =
        |status: &Option<ToolStatus>| matches!(status, Some(ToolStatus::Ok | ToolStatus::Error));
    let calls = performed.tool_calls.iter();
    let tools = calls.filter(|call| is_answered(&call.status)).count();
    let mut parts = vec![
        cost(&result.cost),
        format_duration(result.duration),
        format_tool_count(u32::try_from(tools).unwrap_or(u32::MAX)),
    ];
    if result.tokens.total() > 0 {
        parts.push(format!("{} tokens", thousands(result.tokens.total())));
    }
    if let Some(total) = total {
        parts.push(format!("{} in total", cost(&total)));
    }
    parts.join(", ")
}

/// Formats a cost, which may be unknown.
pub(crate) fn cost(cost: &CostTotal) -> String {
    if *cost == CostTotal::unknown() {
        "cost unknown".to_owned()
    } else {
        cost.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_is_not_printed_as_zero() {
        let mut total = CostTotal::unknown();
        assert_eq!(cost(&total), "cost unknown");

        total.add("0.25".parse().ok());
        assert_eq!(cost(&total), "at least $0.25 (1 cost unknown)");
        assert_eq!(cost(&CostTotal::default()), "$0.00");
    }
}
