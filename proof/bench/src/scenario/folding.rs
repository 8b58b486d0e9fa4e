//! What folding wins on a relational server: likes of one article and new articles, each call waiting for its commit, with
//! the relay at work, beside one transaction a call with as many of them under way as there are callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, NewBoard};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::Writer;
use madang_kernel::{Created, EventId, Id as _, ShardId, StoreError};
use madang_like::{Like, LikeOutcome, LikeStore, Unlike};
use madang_mysql::{MysqlArticles, MysqlLikes, MysqlOptions, Service};

use super::Scenario;
use super::in_place::{Change, InPlaceLikes};
use super::like_callers::{Population, Step};
use super::relayed::{Relayed, Servers};
use crate::cli::Options;
use crate::load::{Side, Turn, Turns, by_turns, call_until, run_callers};
use crate::report::{Figure, Goal, Row};

const LIKES_GOAL: Goal = Goal::AtLeast(12.0);
const ARTICLES_GOAL: Goal = Goal::AtLeast(5.0);
const MEMBERS: usize = 8_192;
/// Connections beside those of the lanes, for reads and the relay.
const OTHER_CONNECTIONS: usize = 8;
const ARTICLE: i64 = 1 << 40;

/// Measures both by turns.
pub(crate) async fn run(options: &Options) -> Result<Vec<Row>> {
    let servers = Servers::of_environment()?;
    let mut rows = likes(options, &servers).await?;
    rows.extend(articles(options, &servers, 1).await?);
    rows.extend(articles(options, &servers, usize::from(options.connections)).await?);
    Ok(rows)
}

/// As many transactions at once as there are callers, one call each.
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
    let at = |database: &Relayed, in_place| Likers {
        store: MysqlLikes::new(database.db.clone()),
        in_place,
        database: database.clone(),
        population,
        done: (0..callers).map(|_| AtomicU64::new(0)).collect(),
    };
    let in_place = Some(InPlaceLikes::new(&single.db));
    let (grouped, in_place) = (at(&folded, None), at(&single, in_place));
    let sides = [grouped.side("likes folded"), in_place.side("one transaction each")];
    let [many, one] = by_turns(options, sides).await;
    for likers in [grouped, in_place] {
        likers.ensure_counted().await?;
    }
    let took = close([folded, single]).await?;
    let figure = Figure::rate("likes of one article, folded", &many);
    let rows =
        [Row::compare(Scenario::Folding, "/s", figure, Figure::rate("one transaction a like", &one), LIKES_GOAL)];
    Ok(rows.into_iter().chain(until_sent("likes", took)).collect())
}

struct Likers {
    store: MysqlLikes,
    /// Where calls are not folded.
    in_place: Option<InPlaceLikes>,
    database: Relayed,
    population: Population,
    done: Arc<[AtomicU64]>,
}

impl Likers {
    fn side<'a>(&'a self, name: &'a str) -> Side<'a> {
        Side::new(name, move |length| self.run(length))
    }

    async fn run(&self, length: Duration) -> Turn {
        run_callers(self.done.len(), length, |caller, until| {
            let (stores, database, population, done) = (
                (self.store.clone(), self.in_place.clone()),
                self.database.clone(),
                self.population,
                self.done.clone(),
            );
            call_until(until, move || {
                let ((store, in_place), database) = (stores.clone(), database.clone());
                let step = population.step(caller, done[caller].fetch_add(1, Ordering::Relaxed));
                async move {
                    let changed = match in_place {
                        Some(in_place) => change_in_place(&in_place, &database, step).await,
                        None => change(&store, &database, step).await,
                    };
                    changed.map_err(|error| format!("store: {error}"))
                }
            })
        })
        .await
    }

    /// A rate of likes that got lost would be worth nothing.
    async fn ensure_counted(self) -> Result<()> {
        let done: Vec<_> = self.done.iter().map(|done| done.load(Ordering::Relaxed)).collect();
        let counts = self.store.counts(vec![ArticleId::from_raw(ARTICLE)]).await?;
        let (counted, expected) = (counts[0].map_or(0, |count| count.like_count), self.population.likes_after(&done));
        ensure!(counted == expected, "{expected} likes were given, {counted} are counted");
        Ok(())
    }
}

async fn change(store: &MysqlLikes, database: &Relayed, step: Step) -> Result<()> {
    let article_id = ArticleId::from_raw(ARTICLE);
    let event_id = database.ids.next(ShardId::of_parts(article_id))?;
    let member_id = MemberId::from_raw(step.member as i64 + 1);
    let outcome = if step.likes {
        let member = Writer { member_id, name: "somebody".into() };
        store.like(Like { article_id, member, created_at: database.clock.now(), event_id }).await
    } else {
        store.unlike(Unlike { article_id, member_id, event_id }).await
    };
    match outcome? {
        LikeOutcome::Done(answer) => ensure!(answer.changed, "a call changed nothing"),
        LikeOutcome::Gone => bail!("the article is gone"),
    }
    Ok(())
}

async fn change_in_place(store: &InPlaceLikes, database: &Relayed, step: Step) -> Result<()> {
    let article_id = ArticleId::from_raw(ARTICLE);
    let event_id = database.ids.next(ShardId::of_parts(article_id))?;
    let member_id = MemberId::from_raw(step.member as i64 + 1);
    let changed = store.change(Change { article_id, member_id, event_id, likes: step.likes }).await?;
    ensure!(changed, "a call changed nothing");
    Ok(())
}

/// New articles on so many boards, each on a shard of its own as long as there are enough.
async fn articles(options: &Options, servers: &Servers, boards: usize) -> Result<Vec<Row>> {
    let callers = usize::from(options.connections);
    let folded = Relayed::open(servers, servers.options("articles"), Service::Article).await?;
    let single = Relayed::open(servers, one_each(servers, "articles_one", callers), Service::Article).await?;
    let (many, one) = (Writers::on(&folded, boards).await?, Writers::on(&single, boards).await?);
    let sides = [many.side("articles folded", callers), one.side("one transaction each", callers)];
    let [of_many, of_one] = by_turns(options, sides).await;
    for (writers, turns) in [(many, &of_many), (one, &of_one)] {
        writers.ensure_kept(turns).await?;
    }
    let took = close([folded, single]).await?;
    let what = format!("articles on {boards} board{}", if boards == 1 { "" } else { "s" });
    let figure = Figure::rate(&format!("{what}, folded"), &of_many);
    let limit = Figure::rate("one transaction an article", &of_one);
    let rows = [Row::compare(Scenario::Folding, "/s", figure, limit, ARTICLES_GOAL)];
    Ok(rows.into_iter().chain(until_sent(&what, took)).collect())
}

struct Writers {
    store: MysqlArticles,
    database: Relayed,
    boards: Arc<[BoardId]>,
}

impl Writers {
    async fn on(database: &Relayed, boards: usize) -> Result<Self> {
        let store = MysqlArticles::new(database.db.clone());
        let mut made = Vec::new();
        let shards: Vec<ShardId> = ShardId::all().collect();
        for number in 0..boards {
            let shard = shards[number % shards.len()];
            let (board_id, slug) = (database.ids.next(shard)?, format!("bench-{number}"));
            let (title, created_at) = (slug.clone(), database.clock.now());
            let board = Board { board_id, slug, title, comment_mode: CommentMode::TwoLevel, created_at };
            store.create_board(NewBoard { board, idempotency: None }).await?;
            made.push(board_id);
        }
        Ok(Self { store, database: database.clone(), boards: made.into() })
    }

    fn side<'a>(&'a self, name: &'a str, callers: usize) -> Side<'a> {
        Side::new(name, move |length| self.run(length, callers))
    }

    async fn run(&self, length: Duration, callers: usize) -> Turn {
        run_callers(callers, length, |caller, until| {
            let (store, database) = (self.store.clone(), self.database.clone());
            let board = self.boards[caller % self.boards.len()];
            call_until(until, move || {
                let (store, database) = (store.clone(), database.clone());
                async move {
                    match create(&store, &database, board).await {
                        Ok(Created::Now(_)) => Ok(()),
                        Ok(_) => Err("store: not created".into()),
                        Err(error) => Err(format!("store: {error}")),
                    }
                }
            })
        })
        .await
    }

    /// At least what the turns counted: the warm-up wrote too.
    async fn ensure_kept(self, turns: &Turns) -> Result<()> {
        let mut kept = 0;
        for board in self.boards.iter() {
            kept += self.store.find_board(*board).await?.map_or(0, |board| board.article_count);
        }
        let counted = turns.samples.count();
        ensure!(kept >= counted, "{counted} articles were created, {kept} are counted");
        Ok(())
    }
}

async fn create(store: &MysqlArticles, database: &Relayed, board_id: BoardId) -> Result<Created<Article>, StoreError> {
    let now = database.clock.now();
    let article = Article {
        article_id: database.ids.next(board_id.shard())?,
        board_id,
        title: "A title of usual length".into(),
        content: "Some words. ".repeat(20),
        content_html: "<p>Some words.</p> ".repeat(20),
        writer: Writer { member_id: MemberId::from_raw(7), name: "somebody".into() },
        created_at: now,
        modified_at: now,
        version: 1,
    };
    let event_id: EventId = database.ids.next(board_id.shard())?;
    store.create(CreateArticle { article, event_id, idempotency: None }).await
}

/// Waits until every event is sent, folded and not, and drops the databases.
async fn close([folded, single]: [Relayed; 2]) -> Result<[Duration; 2]> {
    let took = [folded.sent().await?, single.sent().await?];
    folded.close().await?;
    single.close().await?;
    Ok(took)
}

/// How far the relay was behind at the end, for whoever wonders whether it kept up.
fn until_sent(what: &str, [folded, single]: [Duration; 2]) -> Option<Row> {
    let ms = |took: Duration| took.as_secs_f64() * 1_000.0;
    let figure = Figure::plain(&format!("until the last event of {what} was sent, folded"), ms(folded));
    Some(Row::compare(Scenario::Folding, "ms", figure, Figure::plain("one by one", ms(single)), Goal::None))
}
