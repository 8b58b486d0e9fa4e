//! What folding wins on a relational server: likes of one article and new articles, each call waiting for its commit, with
//! the relay at work, beside one transaction a call. Calls of one shard then wait for one another, as they would for the
//! lock of the counter; those of different shards are under way together.

use std::time::Duration;

use anyhow::{Result, ensure};
use madang_mysql::{MysqlArticles, MysqlLikes, MysqlOptions, Service};

use super::Scenario;
use super::callers::{ArticleCallers, LikeCallers, sample_article};
use super::population::Population;
use super::relayed::{Relayed, Servers};
use crate::cli::Options;
use crate::load::{Side, by_turns};
use crate::report::{Figure, Goal, Row};

const LIKES_GOAL: Goal = Goal::AtLeast(12.0);
const ARTICLES_GOAL: Goal = Goal::AtLeast(5.0);
const MEMBERS: usize = 8_192;
/// Connections beside those of the lanes, for reads and the relay.
const OTHER_CONNECTIONS: usize = 8;

/// Measures both by turns.
pub(crate) async fn run(options: &Options) -> Result<Vec<Row>> {
    let servers = Servers::of_environment()?;
    let mut rows = likes(options, &servers).await?;
    rows.extend(articles(options, &servers, 1).await?);
    rows.extend(articles(options, &servers, usize::from(options.connections)).await?);
    Ok(rows)
}

/// As many lanes as there are callers, with transactions of one call each.
fn one_each(servers: &Servers, name: &str, callers: usize) -> MysqlOptions {
    let mut options = servers.options(name);
    options.lanes = callers;
    options.connections_max = callers + OTHER_CONNECTIONS;
    options.batch_calls_max = 1;
    options
}

async fn likes(options: &Options, servers: &Servers) -> Result<Vec<Row>> {
    let callers = usize::from(options.connections);
    let population = Population::new(MEMBERS, callers)?;
    let folded = Relayed::open(servers, servers.options("likes"), Service::Like).await?;
    let single = Relayed::open(servers, one_each(servers, "likes_one", callers), Service::Like).await?;
    let [many, one] = [&folded, &single].map(|database| {
        LikeCallers::new(MysqlLikes::new(database.db.clone()), database.issuer.clone(), population, callers)
    });
    let sides = [
        Side::new("likes folded", |length| many.run(length)),
        Side::new("one transaction each", |length| one.run(length)),
    ];
    let [of_many, of_one] = by_turns(options, sides).await;
    many.ensure_counted().await?;
    one.ensure_counted().await?;
    let took = close([folded, single]).await?;
    let figure = Figure::rate("likes of one article, folded", &of_many);
    let limit = Figure::rate("one transaction a like", &of_one);
    Ok(vec![Row::compare(Scenario::Folding, "/s", figure, limit, LIKES_GOAL), until_sent("likes", took)])
}

/// New articles on so many boards.
async fn articles(options: &Options, servers: &Servers, boards: usize) -> Result<Vec<Row>> {
    let callers = usize::from(options.connections);
    let folded = Relayed::open(servers, servers.options("articles"), Service::Article).await?;
    let single = Relayed::open(servers, one_each(servers, "articles_one", callers), Service::Article).await?;
    let writers = async |database: &Relayed| {
        let (store, issuer) = (MysqlArticles::new(database.db.clone()), database.issuer.clone());
        ArticleCallers::on_new_boards(store, issuer, boards, callers, sample_article(20)).await
    };
    let (many, one) = (writers(&folded).await?, writers(&single).await?);
    let sides = [
        Side::new("articles folded", |length| many.run(length)),
        Side::new("one transaction each", |length| one.run(length)),
    ];
    let [of_many, of_one] = by_turns(options, sides).await;
    for (writers, turns) in [(many, &of_many), (one, &of_one)] {
        // At least what the turns counted: the warm-up wrote too.
        let (kept, counted) = (writers.count().await?, turns.samples.count());
        ensure!(kept >= counted, "{counted} articles were created, {kept} are counted");
    }
    let took = close([folded, single]).await?;
    let what = format!("articles on {boards} board{}", if boards == 1 { "" } else { "s" });
    let figure = Figure::rate(&format!("{what}, folded"), &of_many);
    let limit = Figure::rate("one transaction an article", &of_one);
    Ok(vec![Row::compare(Scenario::Folding, "/s", figure, limit, ARTICLES_GOAL), until_sent(&what, took)])
}

/// Waits until every event is sent, folded and not, and drops the databases.
async fn close([folded, single]: [Relayed; 2]) -> Result<[Duration; 2]> {
    let took = [folded.sent().await?, single.sent().await?];
    folded.close().await?;
    single.close().await?;
    Ok(took)
}

/// How far the relay was behind at the end, for whoever wonders whether it kept up.
fn until_sent(what: &str, [folded, single]: [Duration; 2]) -> Row {
    let ms = |took: Duration| took.as_secs_f64() * 1_000.0;
    let figure = Figure::plain(&format!("until the last event of {what} was sent, folded"), ms(folded));
    Row::compare(Scenario::Folding, "ms", figure, Figure::plain("one by one", ms(single)), Goal::None)
}
