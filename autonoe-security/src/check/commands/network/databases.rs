//! Clients of database servers on this machine: `redis-cli` and `pg_isready`.

use super::{deny_remote, in_run_mode};
use crate::Rule;
use crate::check::call::{Call, Checked};
use crate::check::commands::server_url::is_local_host;
use crate::check::options::{self, ParsedArg};
use crate::check::text::is_number;
use crate::option_table::OptionTable;

/// Redis commands for keys and values. Others load code, write files or reach other servers.
const REDIS_COMMANDS: &[&str] = words!(
    "dbsize decr del echo exists expire get hdel hexists hget hgetall hkeys hlen hmget hscan hset",
    "hvals incr incrby info keys lindex llen lpop lpush lrange mget mset ping pttl rpop rpush sadd",
    "scan scard set setex sismember smembers srem sscan strlen time ttl type xlen xrange zadd",
    "zcard zrange zrem zscore",
);

const REDIS: OptionTable = options!(
    "h:p:n:D:i:",
    "bigkeys count= csv json keystats latency memkeys no-auth-warning no-raw pattern= quoted-pattern=",
    "raw scan stat type= version",
);

/// Options that print keys or statistics, without a command.
const REDIS_REPORTS: &[&str] = words!("--bigkeys --keystats --latency --memkeys --scan --stat");

pub(super) fn redis_cli(call: &Call<'_, '_, '_>) -> Checked {
    in_run_mode(call, check_redis)
}

fn check_redis(call: &Call<'_, '_, '_>) -> Checked {
    let (parsed, words) = options::read_leading(call, &REDIS)?;
    let mut reports = false;
    for parsed in parsed {
        let ParsedArg::Option { name, value, arg } = parsed else {
            continue;
        };
        match (name.as_str(), value) {
            ("-h", Some(host)) if host.known().is_some_and(is_local_host) => {}
            ("-h", Some(host)) => return Err(deny_remote(call, host.span)),
            ("-p" | "-n" | "-i" | "--count", Some(number))
                if number.known().is_some_and(is_number) => {}
            ("--pattern" | "--quoted-pattern" | "--type", Some(text)) if text.known().is_some() => {
            }
            (report, None) if REDIS_REPORTS.contains(&report) => reports = true,
            ("--csv" | "--json" | "--no-auth-warning" | "--no-raw" | "--raw", None) => {}
            ("--version", None) => return Ok(()),
            _ => return Err(call.deny_flag(Rule::R99, &name, arg.span)),
        }
    }
    if reports && words.is_empty() {
        return Ok(());
    }
    let command = words.first().and_then(|word| word.known());
    let is_known =
        command.is_some_and(|it| REDIS_COMMANDS.contains(&it.to_ascii_lowercase().as_str()));
    // A cluster would redirect the client to another machine, and `-x` is only read among options.
    if is_known {
        Ok(())
    } else {
        Err(call
            .deny(
                Rule::R99,
                "redis-cli takes one literal command about keys and values",
            )
            .instead("use redis-cli ping, get, set, keys and the like"))
    }
}

const PG_ISREADY: OptionTable =
    options!("d:h:p:t:U:", "host= port= quiet timeout= username= version");

pub(super) fn pg_isready(call: &Call<'_, '_, '_>) -> Checked {
    in_run_mode(call, check_postgres)
}

/// Checks `pg_isready`: `-d` may be a complete connection string, and without `-h` a variable names
/// the host.
fn check_postgres(call: &Call<'_, '_, '_>) -> Checked {
    let mut has_host = false;
    for parsed in options::read(call, &PG_ISREADY)? {
        match parsed {
            ParsedArg::Operand(operand) => {
                return Err(call.deny_flag(Rule::R99, &operand.text, operand.span));
            }
            ParsedArg::Option { name, value, arg } => match (name.as_str(), value) {
                ("-h" | "--host", Some(host)) if host.known().is_some_and(is_local_host) => {
                    has_host = true;
                }
                ("-h" | "--host", Some(host)) => return Err(deny_remote(call, host.span)),
                ("-p" | "--port" | "-t" | "--timeout", Some(number))
                    if number.known().is_some_and(is_number) => {}
                ("-U" | "--username", Some(_)) => {}
                ("-q" | "--quiet" | "--version" | "-V", None) => {}
                _ => return Err(call.deny_flag(Rule::R99, &name, arg.span)),
            },
        }
    }
    let scope = call.context.scope;
    let is_set = scope.text().contains("PGHOST") || scope.inherits("PGHOST");
    if is_set && !has_host {
        return Err(deny_remote(call, call.span));
    }
    Ok(())
}
