//! Callers of the stores without HTTP in front, each waiting for its commit: what requests over HTTP are compared with, and
//! what one transaction a call is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use madang_article::{
    Article, ArticleStore, Board, CreateArticle, CreateBoard, CreateOutcome as ArticleOutcome, NewBoard,
};
use madang_board::{ArticleId, BoardId, CommentMode, MemberId};
use madang_comment::{CommentStore, CreateComment, CreateOutcome, DepthMax};
use madang_event::Writer;
use madang_kernel::{Created, Id, ShardId, StoreError, Timestamp};
use madang_like::{Like, LikeOutcome, LikeStore, Unlike};
use madang_view::{StoredViews, ViewStore, WriteBack};

use super::database::Issuer;
use super::population::{Population, Step};
use crate::load::{Turn, call_for};

/// The first article that callers like, comment and view.
pub(super) const ARTICLE: i64 = 1 << 40;
/// Ids drawn for one comment at most, as in the use case.
const ATTEMPTS_MAX: usize = 10;

/// Members who like one article and take it back.
pub(super) struct LikeCallers {
    store: Arc<dyn LikeStore>,
    issuer: Issuer,
    population: Population,
    done: Arc<[AtomicU64]>,
}

impl LikeCallers {
    /// So many callers for these members.
    pub(super) fn new(store: impl LikeStore + 'static, issuer: Issuer, population: Population, callers: usize) -> Self {
        let done = (0..callers).map(|_| AtomicU64::new(0)).collect();
        Self { store: Arc::new(store), issuer, population, done }
    }

    /// Calls for so long.
    pub(super) async fn run(&self, length: Duration) -> Turn {
        let (store, issuer, population, done) =
            (self.store.clone(), self.issuer.clone(), self.population, self.done.clone());
        call_for(self.done.len(), length, move |caller| {
            let step = population.step(caller, done[caller].fetch_add(1, Ordering::Relaxed));
            change_like(store.clone(), issuer.clone(), step)
        })
        .await
    }

    /// A rate of likes that got lost would be worth nothing.
    pub(super) async fn ensure_counted(&self) -> Result<()> {
        let done: Vec<_> = self.done.iter().map(|done| done.load(Ordering::Relaxed)).collect();
        let counts = self.store.counts(vec![ArticleId::from_raw(ARTICLE)]).await?;
        let (counted, expected) = (counts[0].map_or(0, |count| count.like_count), self.population.likes_after(&done));
        ensure!(counted == expected, "{expected} likes were given, {counted} are counted");
        Ok(())
    }
}

/// One like or one taken back. Whoever is refused asks again.
async fn change_like(store: Arc<dyn LikeStore>, issuer: Issuer, step: Step) -> Result<()> {
    let article_id = ArticleId::from_raw(ARTICLE);
    let member_id = MemberId::from_raw(step.member as i64 + 1);
    loop {
        let event_id = issuer.ids.next(ShardId::of_parts(article_id))?;
        let outcome = if step.likes {
            let member = Writer { member_id, name: "somebody".into() };
            store.like(Like { article_id, member, created_at: issuer.clock.now(), event_id }).await
        } else {
            store.unlike(Unlike { article_id, member_id, event_id }).await
        };
        match outcome {
            Ok(LikeOutcome::Done(answer)) => {
                ensure!(answer.changed, "a call changed nothing");
                return Ok(());
            }
            Ok(LikeOutcome::Gone) => bail!("the article is gone"),
            Err(StoreError::Unavailable { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Callers who create copies of an article.
pub(super) struct ArticleCallers {
    store: Arc<dyn ArticleStore>,
    issuer: Issuer,
    boards: Arc<[BoardId]>,
    copy: Arc<Article>,
    callers: usize,
}

impl ArticleCallers {
    /// Makes so many boards, each on a shard of its own as long as there are enough, for callers to write to.
    pub(super) async fn on_new_boards(
        store: impl ArticleStore + 'static,
        issuer: Issuer,
        boards: usize,
        callers: usize,
        copy: Article,
    ) -> Result<Self> {
        let (mut made, shards) = (Vec::new(), ShardId::all().collect::<Vec<_>>());
        for number in 0..boards {
            let shard = shards[number % shards.len()];
            made.push(create_board(&store, &issuer, shard, format!("bench-{number}")).await?);
        }
        Ok(Self { store: Arc::new(store), issuer, boards: made.into(), copy: Arc::new(copy), callers })
    }

    /// Calls for so long.
    pub(super) async fn run(&self, length: Duration) -> Turn {
        let (store, issuer, boards, copy) =
            (self.store.clone(), self.issuer.clone(), self.boards.clone(), self.copy.clone());
        call_for(self.callers, length, move |caller| {
            create_article(store.clone(), issuer.clone(), boards[caller % boards.len()], copy.clone())
        })
        .await
    }

    /// The boards that are written to.
    #[cfg(test)]
    pub(super) fn boards(&self) -> &[BoardId] {
        &self.boards
    }

    /// How many articles are there.
    pub(super) async fn count(&self) -> Result<u64> {
        let mut count = 0;
        for board in self.boards.iter() {
            count += self.store.find_board(*board).await?.map_or(0, |board| board.article_count);
        }
        Ok(count)
    }
}

/// Makes a board; the database is fresh, so nobody has its name.
pub(super) async fn create_board(
    store: &dyn ArticleStore,
    issuer: &Issuer,
    shard: ShardId,
    slug: String,
) -> Result<BoardId> {
    let board_id: BoardId = issuer.ids.next(shard)?;
    let (title, created_at) = (slug.clone(), issuer.clock.now());
    let (description, position) = (String::new(), 0);
    let board = Board { board_id, slug, title, description, position, comment_mode: CommentMode::TwoLevel, created_at };
    match store.create_board(NewBoard { board, idempotency: None }).await? {
        CreateBoard::Created(_) => Ok(board_id),
        CreateBoard::SlugTaken => bail!("the database is not fresh"),
    }
}

async fn create_article(
    store: Arc<dyn ArticleStore>,
    issuer: Issuer,
    board: BoardId,
    copy: Arc<Article>,
) -> Result<()> {
    match store.create(new_article(&issuer, board, &copy)?).await? {
        ArticleOutcome::Created(Created::Now(_)) => Ok(()),
        _ => bail!("not created"),
    }
}

/// A copy of an article on a board, as of now.
pub(super) fn new_article(issuer: &Issuer, board_id: BoardId, copy: &Article) -> Result<CreateArticle> {
    let (article_id, now) = (issuer.ids.next(board_id.shard())?, issuer.clock.now());
    let article = Article { article_id, board_id, created_at: now, modified_at: now, ..copy.clone() };
    Ok(CreateArticle { article, event_id: issuer.ids.next(board_id.shard())?, idempotency: None })
}

/// An article to copy, of some length.
pub(super) fn sample_article(words: usize) -> Article {
    let moment = Timestamp::from_millis(0);
    Article {
        article_id: Id::from_raw(1),
        board_id: Id::from_raw(1),
        title: "A title of usual length".into(),
        content: "Some words. ".repeat(words),
        content_html: "<p>Some words.</p> ".repeat(words),
        writer: Writer { member_id: MemberId::from_raw(7), name: "somebody".into() },
        created_at: moment,
        modified_at: moment,
        version: 1,
    }
}

/// Callers who comment on one article.
pub(super) struct CommentCallers {
    store: Arc<dyn CommentStore>,
    issuer: Issuer,
    callers: usize,
    mode: CommentMode,
    content: &'static str,
}

impl CommentCallers {
    /// Callers who write this text over and over.
    pub(super) fn new(
        store: impl CommentStore + 'static,
        issuer: Issuer,
        callers: usize,
        mode: CommentMode,
        content: &'static str,
    ) -> Self {
        Self { store: Arc::new(store), issuer, callers, mode, content }
    }

    /// Calls for so long.
    pub(super) async fn run(&self, length: Duration) -> Turn {
        let (store, issuer, mode, content) = (self.store.clone(), self.issuer.clone(), self.mode, self.content);
        call_for(self.callers, length, move |caller| {
            let member = MemberId::from_raw(caller as i64 + 1);
            write_comment(store.clone(), issuer.clone(), mode, member, content)
        })
        .await
    }

    /// How many comments the article has.
    pub(super) async fn count(&self) -> Result<u64> {
        Ok(self.store.count(ArticleId::from_raw(ARTICLE)).await?.comment_count)
    }
}

/// Writes a comment; draws another id when one was overtaken, as the use case does.
async fn write_comment(
    store: Arc<dyn CommentStore>,
    issuer: Issuer,
    mode: CommentMode,
    member_id: MemberId,
    content: &'static str,
) -> Result<()> {
    let article_id = ArticleId::from_raw(ARTICLE);
    let shard = ShardId::of_parts(article_id);
    for _ in 0..ATTEMPTS_MAX {
        let new = CreateComment {
            despite_lock: false,
            comment_id: issuer.ids.next(shard)?,
            article_id,
            board_id: BoardId::from_raw(1),
            parent_id: None,
            mode,
            depth_max: DepthMax::DEFAULT,
            content: content.to_owned(),
            content_html: content.to_owned(),
            writer: Writer { member_id, name: "somebody".into() },
            created_at: issuer.clock.now(),
            event_id: issuer.ids.next(shard)?,
            idempotency: None,
        };
        match store.create(new).await? {
            CreateOutcome::Created(Created::Now(_)) => return Ok(()),
            CreateOutcome::Late => {}
            other => bail!("{other:?}"),
        }
    }
    bail!("others overtook a comment every time")
}

/// Views written one by one, each caller on an article of its own: what a count that is not kept in memory would cost.
pub(super) struct ViewCallers {
    store: Arc<dyn ViewStore>,
    issuer: Issuer,
    views: Arc<[AtomicU64]>,
}

impl ViewCallers {
    /// So many callers.
    pub(super) fn new(store: impl ViewStore + 'static, issuer: Issuer, callers: usize) -> Self {
        let views = (0..callers).map(|_| AtomicU64::new(0)).collect();
        Self { store: Arc::new(store), issuer, views }
    }

    /// Calls for so long.
    pub(super) async fn run(&self, length: Duration) -> Turn {
        let (store, issuer, views) = (self.store.clone(), self.issuer.clone(), self.views.clone());
        call_for(self.views.len(), length, move |caller| {
            let view_count = views[caller].fetch_add(1, Ordering::Relaxed) + 1;
            write_view(store.clone(), issuer.clone(), caller, view_count)
        })
        .await
    }
}

async fn write_view(store: Arc<dyn ViewStore>, issuer: Issuer, caller: usize, view_count: u64) -> Result<()> {
    let article_id = ArticleId::from_raw(ARTICLE + caller as i64);
    let event_id = issuer.ids.next(ShardId::of_parts(article_id))?;
    let written = store.write_back(vec![WriteBack { article_id, view_count, event_id }]).await?;
    ensure!(written[0].stored == StoredViews::Count(view_count), "a view was not written");
    Ok(())
}

#[cfg(test)]
mod tests;
