//! The members of one server: its primary, and the replicas of which one takes its place. A URL names them as
//! `mysql://user:password@one:3306,other:3306`; which of them takes writes is found by asking, again whenever one refuses a
//! write or does not respond. Who fails over is the operator's tool ([docs/design/failover.md]); here it is only followed.

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Row};
use tokio::time::timeout;

use crate::acknowledged::LaneBatch;
use crate::errors::SqlError;
use crate::statement::{Many, filled};
use crate::transaction::{Cells, positional};

const ROLE: &str = include_str!("../sql/primary/role.sql");
const TERM: &str = include_str!("../sql/primary/term.sql");
const TAKE: &str = include_str!("../sql/primary/take.sql");
const BEGIN: &str = include_str!("../sql/primary/begin.sql");
const BATCHES: &str = include_str!("../sql/primary/batches.sql");

/// How long a member may take to say what it is.
const PROBE_MAX: Duration = Duration::from_secs(2);
/// How long a member may take to be taken for the primary; one whose COMMIT waits for a replica that it does not have takes
/// longer, and no writes.
const TAKE_MAX: Duration = Duration::from_secs(2);
/// No such database, table or column: nothing was set up there yet, or by an earlier version.
const NOT_SET_UP: [u16; 3] = [1049, 1146, 1054];

/// The URL of each member that a URL names, in its order.
pub(crate) fn urls_of(url: &str) -> Vec<String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("mysql", url));
    let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (format!("{user}@"), hosts),
        None => (String::new(), authority),
    };
    hosts.split(',').map(|host| format!("{scheme}://{user}{}{tail}", host.trim())).collect()
}

/// Host and port of each member that a URL names; what cannot be understood is shown without its user.
pub(crate) fn addresses_of(url: &str) -> String {
    let address = |url: &String| match Opts::from_url(url) {
        Ok(opts) => address(&opts),
        Err(_) => url.rsplit('@').next().unwrap_or_default().to_owned(),
    };
    urls_of(url).iter().map(address).collect::<Vec<_>>().join(",")
}

/// Host and port of a member.
pub(crate) fn address(opts: &Opts) -> String {
    format!("{}:{}", opts.ip_or_hostname(), opts.tcp_port())
}

/// What a member says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It takes writes, and was last taken for the primary in this term.
    Writable { term: u64, server_id: u64 },
    /// It takes writes and lacks some that this process was told to be committed.
    Behind,
    /// It takes none.
    ReadOnly,
    /// It responds, and says nothing else: too many connections.
    Busy,
    /// It does not respond.
    Silent(String),
}

/// Which member to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The one in use.
    Stay,
    /// The first of these whose COMMIT is answered, with their numbers in replication: they take writes in the same term, so that
    /// one of them is a primary that nobody fenced, and whose replica has left it.
    Contested(Vec<(usize, u64)>),
    /// Another one, whose number in replication this is.
    Take { member: usize, server_id: u64 },
    /// The one in use, for reading: it responds, and nobody takes writes.
    ReadOnly,
    /// None.
    Nobody,
}

/// Chooses among the members. Of several that take writes the latest term holds: the others were primaries once. In the same
/// term they have to show who can commit, the one in use first.
pub(crate) fn choose(seen: &[Seen], current: usize) -> Choice {
    let term_of = |seen: &Seen| match seen {
        Seen::Writable { term, server_id } => Some((*term, *server_id)),
        Seen::Behind | Seen::ReadOnly | Seen::Busy | Seen::Silent(_) => None,
    };
    let mut candidates: Vec<(u64, usize, u64)> = Vec::new();
    for (member, (term, server_id)) in
        seen.iter().enumerate().filter_map(|(member, seen)| Some((member, term_of(seen)?)))
    {
        candidates.push((term, member, server_id));
    }
    let latest = candidates.iter().map(|(term, ..)| *term).max().unwrap_or(0);
    candidates.retain(|(term, ..)| *term == latest);
    candidates.sort_by_key(|(_, member, _)| (*member != current, *member));
    match (candidates.as_slice(), seen.get(current)) {
        // It may be the primary still, and is too busy to say so.
        (_, Some(Seen::Busy)) => Choice::Stay,
        // In no term nobody was ever taken for a primary.
        ([_, _, ..], _) if latest > 0 => {
            Choice::Contested(candidates.iter().map(|(_, member, server_id)| (*member, *server_id)).collect())
        }
        ([(_, member, _), ..], _) if *member == current => Choice::Stay,
        ([(_, member, server_id), ..], _) => Choice::Take { member: *member, server_id: *server_id },
        ([], Some(Seen::ReadOnly)) => Choice::ReadOnly,
        ([], _) => Choice::Nobody,
    }
}

/// In words, for a log.
pub(crate) fn in_words(seen: &[Seen], members: &[Opts]) -> String {
    let words = members.iter().zip(seen).map(|(opts, seen)| {
        let is = match seen {
            Seen::Writable { term, .. } => format!("takes writes (term {term})"),
            Seen::Behind => "lacks writes that were acknowledged".to_owned(),
            Seen::ReadOnly => "is read-only".to_owned(),
            Seen::Busy => "takes no more connections".to_owned(),
            Seen::Silent(reason) => format!("does not respond: {reason}"),
        };
        format!("{} {is}", address(opts))
    });
    words.collect::<Vec<_>>().join("; ")
}

/// Asks a member what it is, and whether it has what this process was told to be committed in `database`.
pub(crate) async fn probe(opts: &Opts, database: Option<&str>, acknowledged: &[LaneBatch]) -> Seen {
    match timeout(PROBE_MAX, asked(opts, database, acknowledged)).await {
        Ok(Ok(seen)) => seen,
        Ok(Err(mysql_async::Error::Server(_))) => Seen::Busy,
        Ok(Err(error)) => Seen::Silent(error.to_string()),
        Err(_) => Seen::Silent(format!("no answer within {} ms", PROBE_MAX.as_millis())),
    }
}

async fn asked(opts: &Opts, database: Option<&str>, acknowledged: &[LaneBatch]) -> Result<Seen, mysql_async::Error> {
    let opts = OptsBuilder::from_opts(opts.clone()).db_name(None::<String>);
    let mut conn = Conn::new(opts).await?;
    let role: Option<(u8, u64)> = conn.query_first(ROLE).await?;
    let (read_only, server_id) = role.unwrap_or((1, 0));
    if read_only != 0 {
        return Ok(Seen::ReadOnly);
    }
    let term = match database {
        Some(database) => term(&mut conn, database).await?,
        None => None,
    };
    let Some((term, _)) = term else { return Ok(Seen::Writable { term: 0, server_id }) };
    if lacks(&mut conn, acknowledged).await? {
        return Ok(Seen::Behind);
    }
    Ok(Seen::Writable { term, server_id })
}

/// The term and the primary that a member knows; nothing where nobody has set it up.
async fn term(conn: &mut Conn, database: &str) -> Result<Option<(u64, u64)>, mysql_async::Error> {
    // A name cannot be a parameter; this one was checked letter by letter.
    let found = match conn.query_drop(format!("USE `{database}`")).await {
        Ok(()) => conn.query_first(TERM).await,
        Err(error) => Err(error),
    };
    match found {
        Err(mysql_async::Error::Server(error)) if NOT_SET_UP.contains(&error.code) => Ok(None),
        found => found,
    }
}

/// Whether a member lacks a batch whose COMMIT was answered.
async fn lacks(conn: &mut Conn, acknowledged: &[LaneBatch]) -> Result<bool, mysql_async::Error> {
    if acknowledged.is_empty() {
        return Ok(false);
    }
    let keys = filled(acknowledged.iter().map(|batch| vec![batch.lane_id.into()]).collect());
    let rows: Vec<Row> = conn.exec(Many::parse(BATCHES).sql(keys.len()), positional(keys.concat())).await?;
    let mut there = std::collections::BTreeMap::new();
    for (lane_id, number) in rows.into_iter().map(mysql_async::from_row::<(u64, u64)>) {
        there.insert(lane_id, number);
    }
    Ok(acknowledged.iter().any(|batch| there.get(&batch.lane_id).is_none_or(|number| *number < batch.number)))
}

/// Begins a term on a member, whoever it is known as: one whose COMMIT waits for a replica that has left it is not answered.
pub(crate) async fn begin_term(opts: &Opts, server_id: u64) -> Result<(), SqlError> {
    let beginning = async {
        let mut conn = Conn::new(opts.clone()).await?;
        conn.exec_drop(BEGIN, (server_id,)).await?;
        Ok::<_, SqlError>(())
    };
    timeout(TAKE_MAX, beginning).await.unwrap_or_else(|_| Err(late()))
}

fn late() -> SqlError {
    SqlError::Unavailable(format!("no COMMIT within {} s", TAKE_MAX.as_secs()))
}

/// Takes a member for the primary: whoever looks later sees that it came after the one before. Says why not where its COMMIT is
/// not answered.
pub(crate) async fn take_over(opts: &Opts, server_id: u64) -> Result<(), SqlError> {
    let taking = async {
        let mut conn = Conn::new(opts.clone()).await?;
        let known: Option<Row> = conn.query_first(TERM).await?;
        let is_known = match known.map(Cells::new) {
            Some(mut cells) => {
                let _term: u64 = cells.next()?;
                cells.next::<u64>()? == server_id
            }
            None => true,
        };
        if !is_known {
            conn.exec_drop(TAKE, (server_id, server_id)).await?;
        }
        Ok::<_, SqlError>(())
    };
    timeout(TAKE_MAX, taking).await.unwrap_or_else(|_| Err(late()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_one_member_or_several() {
        assert_eq!(urls_of("mysql://me:pw@db:3306"), ["mysql://me:pw@db:3306"]);
        assert_eq!(
            urls_of("mysql://me:a%2Cb@one:3306, other:3307/?tcp_nodelay=true"),
            ["mysql://me:a%2Cb@one:3306/?tcp_nodelay=true", "mysql://me:a%2Cb@other:3307/?tcp_nodelay=true"]
        );
        assert_eq!(addresses_of("mysql://me:pw@one,other:3307"), "one:3306,other:3307");
        assert_eq!(addresses_of("mysql://one:1"), "one:1");
    }

    fn writable(term: u64) -> Seen {
        Seen::Writable { term, server_id: 100 + term }
    }

    fn silent() -> Seen {
        Seen::Silent("gone".to_owned())
    }

    #[test]
    fn the_one_that_takes_writes_is_used() {
        assert_eq!(choose(&[writable(1), Seen::ReadOnly], 0), Choice::Stay);
        assert_eq!(choose(&[silent(), writable(1)], 0), Choice::Take { member: 1, server_id: 101 });
        assert_eq!(choose(&[Seen::ReadOnly, writable(1)], 0), Choice::Take { member: 1, server_id: 101 });
        assert_eq!(choose(&[Seen::Busy, Seen::ReadOnly], 0), Choice::Stay, "it may be the primary still");
    }

    #[test]
    fn an_old_primary_that_comes_back_is_not_taken_for_one() {
        assert_eq!(choose(&[writable(3), writable(4)], 0), Choice::Take { member: 1, server_id: 104 });
        assert_eq!(choose(&[writable(3), writable(4)], 1), Choice::Stay);
    }

    #[test]
    fn of_two_in_the_same_term_the_one_that_can_commit_is_used() {
        let both = [writable(4), writable(4)];
        assert_eq!(choose(&both, 1), Choice::Contested(vec![(1, 104), (0, 104)]), "the one in use is asked first");
        assert_eq!(choose(&[writable(0), writable(0)], 0), Choice::Stay, "nobody was ever taken for a primary");
    }

    #[test]
    fn while_nobody_takes_writes_the_one_in_use_is_read_from() {
        assert_eq!(choose(&[Seen::ReadOnly, Seen::ReadOnly], 0), Choice::ReadOnly);
        assert_eq!(choose(&[silent(), Seen::ReadOnly], 0), Choice::Nobody, "a replica is not read from");
        assert_eq!(choose(&[silent(), Seen::Behind], 0), Choice::Nobody, "what was acknowledged would be lost");
    }
}
