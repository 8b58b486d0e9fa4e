//! Use cases of reading: an article, many of them, a page, a scroll. Hits wait for nothing and copy no text.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use madang_board::{ArticleId, BoardId};
use madang_event::{Envelope, Event, LastComment};
use madang_kernel::{Clock, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp, known_count};
use madang_messaging::Stop;

use crate::loader::{LoadLoop, Loader, loader};
use crate::meters::{Kind, Meter, Meters};
use crate::pins::Pins;
use crate::ranking::{Rank, RankingKey};
use crate::ranking_source::{Loaded, RankingSource};
use crate::rankings::Rankings;
use crate::rebuild::{EntrySource, ListSource, LoadedList};
use crate::view_counts::ViewCounts;
use crate::{
    Activity, ArticleHead, ArticleText, Entry, ListLookup, Lookup, ModelSize, Owners, ReadModel, Shown, Step, Window,
};

/// How often a list whose candidates turn out to be gone is looked at again before it is answered without them.
const LIST_ROUNDS_MAX: usize = 4;
/// Articles looked up together.
pub(crate) const SLICE_MAX: usize = 256;

/// An article with its counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadArticle {
    /// The article, shared with the model.
    pub text: Arc<ArticleText>,
    /// Visible comments.
    pub comment_count: u64,
    /// Likes.
    pub like_count: u64,
    /// Views.
    pub view_count: u64,
    /// Whether it takes no new comments.
    pub locked: bool,
    /// Whether it is pinned on its board.
    pub pinned: bool,
    /// The newest visible comment.
    pub last: Option<LastComment>,
    /// The version of what is told of the comments.
    pub comment_version: u64,
}

/// An article as a list shows it, with its counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSummary {
    head: Head,
    /// Visible comments.
    pub comment_count: u64,
    /// Likes.
    pub like_count: u64,
    /// Views.
    pub view_count: u64,
    /// Whether it takes no new comments.
    pub locked: bool,
    /// Whether it is pinned on its board.
    pub pinned: bool,
    /// The newest visible comment.
    pub last: Option<LastComment>,
}

/// Where a head lies: in a text that the model shares, or by itself when it came from the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Head {
    OfText(Arc<ArticleText>),
    Alone(Box<ArticleHead>),
}

impl ReadSummary {
    /// What the list shows of the article.
    pub fn head(&self) -> &ArticleHead {
        match &self.head {
            Head::OfText(text) => &text.head,
            Head::Alone(head) => head,
        }
    }

    /// The last activity: the newest visible comment, or the creation where there is none.
    pub fn last_activity_at(&self) -> Timestamp {
        self.last.as_ref().map_or(self.head().created_at, |last| last.created_at)
    }

    /// Its place among what is active.
    pub fn rank(&self) -> Rank {
        Rank { at: self.last_activity_at(), article_id: self.head().article_id }
    }
}

impl ReadArticle {
    /// The last activity: the newest visible comment, or the creation where there is none.
    pub fn last_activity_at(&self) -> Timestamp {
        self.last.as_ref().map_or(self.text.head.created_at, |last| last.created_at)
    }
}

impl From<ReadArticle> for ReadSummary {
    fn from(article: ReadArticle) -> Self {
        let ReadArticle { text, comment_count, like_count, view_count, locked, pinned, last, .. } = article;
        Self { head: Head::OfText(text), comment_count, like_count, view_count, locked, pinned, last }
    }
}

/// Reading. One per process: its loads are collapsed here.
pub struct ReadService {
    pub(crate) model: Arc<dyn ReadModel>,
    pub(crate) owners: Owners,
    articles: Loader<ArticleId, Option<Entry>>,
    lists: Loader<BoardId, LoadedList>,
    pub(crate) rankings: Arc<Rankings>,
    pub(crate) ranking_loads: Loader<RankingKey, Loaded>,
    pub(crate) clock: Arc<dyn Clock>,
    views: ViewCounts,
    pins: Pins,
    loops: Loops,
    article_meters: Meters,
    board_meters: Meters,
}

struct Loops {
    articles: LoadLoop<ArticleId, Option<Entry>>,
    lists: LoadLoop<BoardId, LoadedList>,
    rankings: LoadLoop<RankingKey, Loaded>,
    views: LoadLoop<ArticleId, Option<u64>>,
}

impl ReadService {
    /// A service over a model that is rebuilt from `owners`. What the owners do not have in memory is loaded while
    /// [`ReadService::run`] runs.
    pub fn new(model: Arc<dyn ReadModel>, owners: Owners, clock: Arc<dyn Clock>) -> Self {
        let entries = EntrySource::new(Arc::clone(&model), owners.clone());
        let boards = ListSource::new(Arc::clone(&model), Arc::clone(&owners.articles));
        let (articles, article_loads) = loader("articles", Arc::new(entries));
        let (lists, list_loads) = loader("board lists", Arc::new(boards));
        let pins = Pins::new(Arc::clone(&owners.articles), Arc::clone(&clock));
        let rankings = Arc::new(Rankings::default());
        let source = RankingSource {
            rankings: Arc::clone(&rankings),
            model: Arc::clone(&model),
            owners: owners.clone(),
            clock: Arc::clone(&clock),
        };
        let (ranking_loads, ranking_loop) = loader("rankings", Arc::new(source));
        let (views, view_loads) = ViewCounts::new(Arc::clone(&owners.views), Arc::clone(&clock));
        let loops = Loops { articles: article_loads, lists: list_loads, rankings: ranking_loop, views: view_loads };
        let (article_meters, board_meters) = (Meters::of(Kind::Article), Meters::of(Kind::Board));
        Self {
            model,
            owners,
            articles,
            lists,
            rankings,
            ranking_loads,
            clock,
            views,
            pins,
            loops,
            article_meters,
            board_meters,
        }
    }

    /// Loads what readers miss, until `stop` fires. Belongs to a supervisor, to be stopped after the last reader.
    pub async fn run(&self, stop: Stop) -> Result<(), Infallible> {
        let Loops { articles, lists, rankings, views } = &self.loops;
        tokio::join!(
            articles.run(&stop),
            lists.run(&stop),
            rankings.run(&stop),
            views.run(&stop),
            self.model.run(&stop)
        );
        Ok(())
    }

    /// One article; `None` when there is no such, or no longer.
    pub async fn article(&self, article: ArticleId) -> Result<Option<ReadArticle>, StoreError> {
        Ok(self.slice(&[article]).await?.pop().flatten())
    }

    /// Many articles, in the order asked; `None` for what does not exist.
    pub async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ReadArticle>>, StoreError> {
        let mut read = Vec::with_capacity(articles.len());
        for slice in articles.chunks(SLICE_MAX) {
            read.extend(self.slice(slice).await?);
        }
        Ok(read)
    }

    /// What is pinned on a board, the last pinned first. The list of the board has these articles too, in their places.
    pub async fn pinned(&self, board: BoardId) -> Result<Vec<ReadSummary>, StoreError> {
        let ids = self.pins.of(board).await;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.articles(&ids).await?.into_iter().flatten().map(ReadSummary::from).collect())
    }

    /// A numbered page of a board, newest first; `None` when there is no such board.
    pub async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ReadSummary>>, StoreError> {
        match self.listed(board, Window::Page(page, size)).await? {
            Listed::NoBoard => Ok(None),
            Listed::Inside { items, count, .. } => {
                Ok(Some(Page { items, known_count: known_count(count, page, size) }))
            }
            Listed::Outside => {
                let Some(Page { items, known_count }) = self.owners.articles.page(board, page, size).await? else {
                    return Ok(None);
                };
                Ok(Some(Page { items: self.counted(items).await?, known_count }))
            }
        }
    }

    /// The articles of a board before a cursor, or its newest, newest first; `None` when there is no such board.
    pub async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ReadSummary, ArticleId>>, StoreError> {
        match self.listed(board, Window::Before(before, size)).await? {
            Listed::NoBoard => Ok(None),
            Listed::Inside { items, next, .. } => Ok(Some(Scroll { items, next })),
            Listed::Outside => {
                let Some(Scroll { items, next }) = self.owners.articles.scroll(board, before, size).await? else {
                    return Ok(None);
                };
                Ok(Some(Scroll { items: self.counted(items).await?, next }))
            }
        }
    }

    /// Hears of events as they are committed, before whoever caused them is answered: the first reader of a new article
    /// need not ask how often it was seen. The model is told by whoever keeps it.
    pub fn note_committed(&self, events: &[Envelope]) {
        for envelope in events {
            if let Event::ArticleCreated(_) = envelope.event {
                self.views.note_new(envelope.key);
            }
        }
        self.rankings.hear(events.iter().filter_map(|envelope| Some((envelope.key, Activity::of(envelope)?))));
    }

    /// What the model says of how often it changed, see [`ReadModel::generation`], rankings included.
    pub fn generation(&self) -> Option<u64> {
        // Both only grow, so the sum stays the same only while both do.
        self.model.generation().map(|model| model.wrapping_add(self.rankings.generation()))
    }

    /// For how long rendered answers may be handed out, see [`ReadModel::rendered_ttl`].
    pub fn rendered_ttl(&self) -> Duration {
        self.model.rendered_ttl()
    }

    /// Drops the whole model; it comes back by itself.
    pub async fn clear(&self) -> Result<(), StoreError> {
        let cleared = self.model.clear().await;
        self.rankings.clear();
        cleared
    }

    /// How much the model holds, which is reported as a figure as well: called every few seconds.
    pub async fn report_size(&self) -> Result<ModelSize, StoreError> {
        let size = self.model.size().await?;
        metrics::gauge!("madang_read_entries").set(size.entries as f64);
        metrics::gauge!("madang_read_lists").set(size.lists as f64);
        metrics::gauge!("madang_read_bytes").set(size.bytes as f64);
        Ok(size)
    }

    async fn slice(&self, articles: &[ArticleId]) -> Result<Vec<Option<ReadArticle>>, StoreError> {
        let shown = self.shown(articles).await?;
        let live = |(article, shown): (&ArticleId, &Shown)| matches!(shown, Shown::Live { .. }).then_some(*article);
        let live: Vec<_> = articles.iter().zip(&shown).filter_map(live).collect();
        let boards = shown.iter().filter_map(|shown| match shown {
            Shown::Live { text, .. } => Some(text.head.board_id),
            Shown::Gone | Shown::Unknown => None,
        });
        let pinned = self.pins.among(boards).await;
        let mut views = self.views.counts(&live).await?.into_iter();
        let read = shown.into_iter().map(|shown| match shown {
            Shown::Live { text, comment_count, comment_version, locked, last, like_count } => {
                // The owner of views may hear of a deletion first.
                let view_count = views.next().flatten()?;
                let pinned = pinned.contains(&text.head.article_id);
                Some(ReadArticle { text, comment_count, like_count, view_count, locked, pinned, last, comment_version })
            }
            Shown::Gone | Shown::Unknown => None,
        });
        Ok(read.collect())
    }

    /// What the model shows of articles; loads what it does not know.
    async fn shown(&self, articles: &[ArticleId]) -> Result<Vec<Shown>, StoreError> {
        let (mut stale, mut missing) = (Vec::new(), Vec::new());
        let mut shown = Vec::with_capacity(articles.len());
        for (place, look) in self.model.find(articles).await?.into_iter().enumerate() {
            let one = match look {
                Lookup::Miss => Shown::Unknown,
                Lookup::Absent => Shown::Gone,
                Lookup::Found { entry, is_stale } => {
                    if is_stale {
                        stale.push(articles[place]);
                    }
                    entry.shown()
                }
            };
            if one == Shown::Unknown {
                missing.push(place);
            }
            shown.push(one);
        }
        self.article_meters.add(Meter::Hits, shown.len() - missing.len());
        if !stale.is_empty() {
            self.articles.refresh(&stale);
        }
        if !missing.is_empty() {
            self.article_meters.add(Meter::Misses, missing.len());
            let keys: Vec<_> = missing.iter().map(|place| articles[*place]).collect();
            for (place, entry) in missing.into_iter().zip(self.articles.load(&keys).await?) {
                shown[place] = entry.map_or(Shown::Gone, |entry| entry.shown());
                // Never an absence: what is absent leaves the lists.
                if shown[place] == Shown::Unknown {
                    return Err(StoreError::broken("query model", "a rebuilt article lacks a part"));
                }
            }
        }
        Ok(shown)
    }

    /// A window of a board, with the articles in it. A candidate that is gone leaves the list, and the next moves up.
    async fn listed(&self, board: BoardId, window: Window) -> Result<Listed, StoreError> {
        let mut rounds = 0;
        loop {
            let (ids, next, count) = match self.step(board, window).await? {
                None => return Ok(Listed::NoBoard),
                Some(Step::Outside) => return Ok(Listed::Outside),
                Some(Step::Inside { ids, next, count }) => (ids, next, count),
            };
            // Only an empty board can be deleted, and no event tells of it: the owner does.
            if count == 0 && self.owners.articles.newest(board, 1).await?.is_none() {
                return Ok(Listed::NoBoard);
            }
            let read = self.articles(&ids).await?;
            rounds += 1;
            let gone: Vec<_> = ids.iter().zip(&read).filter(|(_, read)| read.is_none()).map(|(id, _)| *id).collect();
            if !gone.is_empty() {
                self.model.drop_candidates(board, &gone).await?;
                if rounds < LIST_ROUNDS_MAX {
                    continue;
                }
            }
            let items = read.into_iter().flatten().map(ReadSummary::from).collect();
            return Ok(Listed::Inside { items, next, count });
        }
    }

    /// What the list says of a window; `None` when there is no such board.
    async fn step(&self, board: BoardId, window: Window) -> Result<Option<Step>, StoreError> {
        for _ in 0..LIST_ROUNDS_MAX {
            match self.model.list(board, window).await? {
                ListLookup::Absent => return Ok(None),
                ListLookup::Found { step, is_stale } => {
                    self.board_meters.add(Meter::Hits, 1);
                    if is_stale {
                        self.lists.refresh(&[board]);
                    }
                    return Ok(Some(step));
                }
                ListLookup::Miss => {
                    self.board_meters.add(Meter::Misses, 1);
                    match self.lists.load(&[board]).await?.pop() {
                        Some(LoadedList::Kept(list)) => return Ok(Some(list.look(window))),
                        Some(LoadedList::Absent) => return Ok(None),
                        Some(LoadedList::There) | None => {}
                    }
                }
            }
        }
        // It is pushed out as soon as it is loaded: the owner answers.
        Ok(Some(Step::Outside))
    }

    /// Adds counts to heads that came from their owner; what was deleted meanwhile is left out.
    async fn counted(&self, heads: Vec<ArticleHead>) -> Result<Vec<ReadSummary>, StoreError> {
        if heads.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = heads.iter().map(|head| head.article_id).collect();
        let (comments, likes, views) = tokio::try_join!(
            self.owners.comments.comment_counts(&ids),
            self.owners.likes.like_counts(&ids),
            self.views.counts(&ids)
        )?;
        let pinned = self.pins.among(heads.iter().map(|head| head.board_id)).await;
        let counts = comments.into_iter().zip(likes).zip(views);
        let summaries = heads.into_iter().zip(counts).filter_map(|(head, ((comments, likes), views))| {
            let comments = comments?;
            Some(ReadSummary {
                pinned: pinned.contains(&head.article_id),
                locked: comments.locked,
                last: comments.last,
                head: Head::Alone(Box::new(head)),
                comment_count: comments.count,
                like_count: likes?.count,
                view_count: views?,
            })
        });
        Ok(summaries.collect())
    }
}

/// A window of a board.
enum Listed {
    NoBoard,
    Inside { items: Vec<ReadSummary>, next: Option<ArticleId>, count: u64 },
    Outside,
}
