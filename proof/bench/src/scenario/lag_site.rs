//! The site of `read-lag`: what is written, and where its effect must show.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::client::{Connection, Request};
use crate::process::Server;
use crate::site::{FullestBoard, Scratch, caught_up, counter, text};

const ARTICLES: u32 = 1_000;
const MEMBERS: u32 = 3_000;
/// Articles whose likes are looked for in the hot list; it shows ten.
const HOT: usize = 8;
/// Likes that bring them there before the load begins, and keep them above the others.
const HOT_FIRST_LIKES: usize = 20;
const PAGE_SIZE: u32 = 100;
/// Events that the query model was told by the log.
const APPLIED: &str = "messaging_consumer_applied_total{group=\"article-read\"}";
const HEARD_MAX: Duration = Duration::from_secs(60);
/// Looked for no longer than this.
const SHOWN_MAX_MS: u64 = 5_000;
/// Between two looks: a fiftieth of the lag that is allowed, and on a cluster, where a look costs more, a thirtieth.
const POLL_MS: u64 = 1;
const POLL_ON_CLUSTER_MS: u64 = 5;

/// What is written, and where it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An article, looked for in the list of its board.
    Listed,
    /// An article, looked for by its id.
    Article,
    /// A comment, looked for in the count of its article.
    Comment,
    /// A like, looked for in the count of its article.
    Like,
    /// A like, looked for in the hot list.
    HotLike,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Listed, Self::Article, Self::Comment, Self::Like, Self::HotLike];

    /// Of twenty writes two are articles, six are comments and twelve are likes, four of those of hot articles.
    pub(super) fn of(number: u64) -> Self {
        match number % 20 {
            0 => Self::Listed,
            10 => Self::Article,
            3 | 8 | 13 | 18 => Self::HotLike,
            1 | 4 | 7 | 11 | 14 | 17 => Self::Comment,
            _ => Self::Like,
        }
    }

    pub(super) fn shown_as(self) -> &'static str {
        match self {
            Self::Listed => "p99 until an article is on its board",
            Self::Article => "p99 until an article is found",
            Self::Comment => "p99 until an article counts a comment",
            Self::Like => "p99 until an article counts a like",
            Self::HotLike => "p99 until the hot list counts a like",
        }
    }
}

/// An article that is commented on and liked.
struct Target {
    path: String,
    id: String,
    likers: AtomicUsize,
    comments: AtomicU64,
}

/// What must be seen of a write.
#[derive(Debug)]
pub(super) struct Effect {
    look_at: Request,
    shows: Shows,
}

#[derive(Debug)]
enum Shows {
    /// The page lists the article.
    Listed(String),
    /// The article is there.
    Found,
    /// The article has at least so many of a field.
    Count(&'static str, u64),
    /// The hot list has this article with at least so many likes.
    Hot(String, u64),
}

/// A running site and what the load knows of it.
pub(super) struct LagSite {
    pub(super) address: SocketAddr,
    /// Where effects are looked for.
    pub(super) look_at: SocketAddr,
    board: FullestBoard,
    tokens: Vec<String>,
    hot: Vec<Target>,
    others: Vec<Target>,
    look_every: Duration,
}

impl LagSite {
    /// Fills a site, starts it, and makes sure that effects show at all.
    pub(super) async fn prepare(scratch: &Scratch) -> Result<(Self, Server)> {
        let site = scratch.site_of("lag", ARTICLES, MEMBERS)?;
        let server = site.serve()?;
        caught_up(server.address).await?;
        if scratch.is_on_cluster() {
            heard_of_all(server.address).await?;
        }
        let board = FullestBoard::find(server.address).await?;
        let ids = board.ids(server.address, ARTICLES, PAGE_SIZE).await?;
        let mut hot: Vec<_> = ids.into_iter().map(Target::new).collect();
        ensure!(hot.len() > 2 * HOT, "the board has too few articles");
        let others = hot.split_off(HOT);
        let poll_ms = if scratch.is_on_cluster() { POLL_ON_CLUSTER_MS } else { POLL_MS };
        let look_every = Duration::from_millis(poll_ms);
        let address = server.address;
        let site = Self { address, look_at: address, board, tokens: site.tokens, hot, others, look_every };
        site.heat().await?;
        Ok((site, server))
    }

    /// The same with a second process on the site, in which effects are looked for.
    pub(super) async fn prepare_two(scratch: &Scratch) -> Result<(Self, [Server; 2])> {
        let (site, server) = Self::prepare(scratch).await?;
        let filled = scratch.site_of("lag", ARTICLES, MEMBERS)?;
        let other = filled.serve_with(&[("MADANG_CLUSTER_INTERNAL_LISTEN", "127.0.0.1:0")])?;
        Ok((Self { look_at: other.address, ..site }, [server, other]))
    }

    async fn heat(&self) -> Result<()> {
        let mut connection = Connection::open(self.address).await?;
        for target in &self.hot {
            let mut likes = 0;
            for _ in 0..HOT_FIRST_LIKES {
                likes = self.like(&mut connection, target).await.context("an article cannot be liked")?;
            }
            let in_article = Effect { look_at: Request::get(&target.path), shows: Shows::Count("like_count", likes) };
            let shown = self.wait_until_shown(&mut connection, &in_article).await;
            shown.context("an article does not show its likes: has the server a query model?")?;
            let shown = self.wait_until_shown(&mut connection, &hot_effect(target, likes)).await;
            shown.context("the hot list does not show an article that many like")?;
        }
        Ok(())
    }

    /// Does the write of this number; returns what must be seen of it.
    pub(super) async fn write(&self, connection: &mut Connection, kind: Kind, number: u64) -> Result<Effect> {
        let other = &self.others[number as usize % self.others.len()];
        let hot = &self.hot[number as usize / 5 % self.hot.len()];
        match kind {
            Kind::Listed | Kind::Article => self.post_article(connection, kind, number).await,
            Kind::Comment => {
                let body = json!({ "content": format!("Comment {number}") }).to_string();
                let token = &self.tokens[number as usize % self.tokens.len()];
                exchange(connection, &Request::post(&format!("{}/comments", other.path), token, &body)).await?;
                let count = other.comments.fetch_add(1, Ordering::Relaxed) + 1;
                Ok(Effect { look_at: Request::get(&other.path), shows: Shows::Count("comment_count", count) })
            }
            Kind::Like => {
                let likes = self.like(connection, other).await?;
                Ok(Effect { look_at: Request::get(&other.path), shows: Shows::Count("like_count", likes) })
            }
            Kind::HotLike => Ok(hot_effect(hot, self.like(connection, hot).await?)),
        }
    }

    async fn post_article(&self, connection: &mut Connection, kind: Kind, number: u64) -> Result<Effect> {
        let body = json!({ "title": format!("Article {number}"), "content": "Some *text* to read." }).to_string();
        let path = format!("/api/v1/boards/{}/articles", self.board.board_id);
        let token = &self.tokens[number as usize % self.tokens.len()];
        let id = text(&exchange(connection, &Request::post(&path, token, &body)).await?, "article_id")?;
        Ok(match kind {
            Kind::Listed => Effect { look_at: self.board.page(1, PAGE_SIZE), shows: Shows::Listed(id) },
            _ => Effect { look_at: Request::get(&format!("/api/v1/articles/{id}")), shows: Shows::Found },
        })
    }

    /// The next member who does not like an article yet does; returns the count that they are told.
    async fn like(&self, connection: &mut Connection, target: &Target) -> Result<u64> {
        let member = target.likers.fetch_add(1, Ordering::Relaxed);
        let token = self.tokens.get(member).context("every member likes the article already")?;
        let state = exchange(connection, &Request::bodiless("PUT", &format!("{}/like", target.path), token)).await?;
        state["like_count"].as_u64().context("the answer to a like lacks `like_count`")
    }

    /// Looks until the effect shows.
    pub(super) async fn wait_until_shown(&self, connection: &mut Connection, effect: &Effect) -> Result<()> {
        let give_up = Instant::now() + Duration::from_millis(SHOWN_MAX_MS);
        while Instant::now() < give_up {
            if effect.is_shown_by(connection).await? {
                return Ok(());
            }
            tokio::time::sleep(self.look_every).await;
        }
        bail!("not shown within {SHOWN_MAX_MS} ms")
    }
}

/// Waits until the articles of the filling are heard of by the log. The process that wrote them is gone, so that their rows
/// are found by polling, seconds later; until then the age of what is heard would be theirs.
async fn heard_of_all(address: SocketAddr) -> Result<()> {
    eprintln!("Waiting until all of them went through the log");
    let give_up = Instant::now() + HEARD_MAX;
    while counter(address, APPLIED).await?.unwrap_or_default() < f64::from(ARTICLES) {
        ensure!(Instant::now() < give_up, "not heard of within {HEARD_MAX:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

impl Target {
    fn new(id: String) -> Self {
        let (likers, comments) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { path: format!("/api/v1/articles/{id}"), id, likers, comments }
    }
}

fn hot_effect(target: &Target, likes: u64) -> Effect {
    Effect { look_at: Request::get("/api/v1/hot-articles"), shows: Shows::Hot(target.id.clone(), likes) }
}

impl Effect {
    async fn is_shown_by(&self, connection: &mut Connection) -> Result<bool> {
        if matches!(self.shows, Shows::Found) {
            // Not there yet is what is measured, not an error.
            return Ok(connection.exchange(&self.look_at).await?.status == 200);
        }
        self.shows.is_in(&exchange(connection, &self.look_at).await?)
    }
}

impl Shows {
    fn is_in(&self, answer: &Value) -> Result<bool> {
        match self {
            Self::Found => Ok(true),
            Self::Listed(id) => {
                let items = answer["items"].as_array().context("a page has no items")?;
                Ok(items.iter().any(|item| item["article_id"] == **id))
            }
            Self::Count(field, least) => {
                let count = answer[field].as_u64().with_context(|| format!("the article lacks `{field}`"))?;
                Ok(count >= *least)
            }
            Self::Hot(id, least) => {
                let days = answer["days"].as_array().context("the hot list has no days")?;
                let mut items = days.iter().filter_map(|day| day["items"].as_array()).flatten();
                let found = items.find(|item| item["article_id"] == **id);
                Ok(found.and_then(|item| item["like_count"].as_u64()).is_some_and(|likes| likes >= *least))
            }
        }
    }
}

async fn exchange(connection: &mut Connection, request: &Request) -> Result<Value> {
    let answer = connection.exchange(request).await?;
    ensure!((200..300).contains(&answer.status), "status {}", answer.status);
    serde_json::from_slice(answer.body).context("the answer is no JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_share_of_the_writes() {
        let share = |kind| (0..20).filter(|number| Kind::of(*number) == kind).count();
        assert_eq!(Kind::ALL.map(share), [1, 1, 6, 8, 4]);
        assert!(Kind::ALL.iter().enumerate().all(|(index, kind)| *kind as usize == index));
    }

    #[test]
    fn an_effect_shows_when_the_count_is_reached_and_not_before() {
        let article = json!({ "like_count": 3, "comment_count": 0 });
        assert!(Shows::Count("like_count", 3).is_in(&article).unwrap());
        assert!(!Shows::Count("like_count", 4).is_in(&article).unwrap());
        assert!(Shows::Count("view_count", 1).is_in(&article).is_err());
        let hot = json!({ "days": [{ "items": [{ "article_id": "7", "like_count": 3 }] }] });
        assert!(Shows::Hot("7".into(), 3).is_in(&hot).unwrap());
        assert!(!Shows::Hot("7".into(), 4).is_in(&hot).unwrap());
        assert!(!Shows::Hot("8".into(), 1).is_in(&hot).unwrap());
        let page = json!({ "items": [{ "article_id": "7" }] });
        assert!(Shows::Listed("7".into()).is_in(&page).unwrap());
        assert!(!Shows::Listed("8".into()).is_in(&page).unwrap());
    }
}
