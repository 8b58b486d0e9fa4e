//! Rebuilds of entries and lists from their owners, always through a placeholder: what is merged meanwhile is kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id as _, PageSize, ShardId, StoreError};
use tokio::time::Instant;

use crate::loader::Source;
use crate::meters::{Kind, Meter, Meters};
use crate::{
    ArticleOwner, BoardList, Entry, Filled, LEASE_MS, LIST_MAX, Lease, ListLookup, Lookup, Owners, ReadModel,
    Reservation, Shown, Window,
};

/// How often a rebuild that is contradicted meanwhile starts anew before its readers get `Unavailable`.
const ROUNDS_MAX: usize = 5;
/// How long a process waits for the rebuild of another before it asks the owners for itself.
const LEASE_WAIT: Duration = Duration::from_secs(1);
/// How often it looks: soon at first, because a rebuild takes milliseconds.
const LEASE_POLL_MIN: Duration = Duration::from_millis(4);
const LEASE_POLL_MAX: Duration = Duration::from_millis(32);

const _: () =
    assert!(LEASE_WAIT.as_millis() < LEASE_MS as u128 && LEASE_MS > 0, "who waits gives up before the lease ends");

/// Loads articles with their counts.
pub(crate) struct EntrySource {
    model: Arc<dyn ReadModel>,
    owners: Owners,
    meters: Meters,
}

impl EntrySource {
    pub(crate) fn new(model: Arc<dyn ReadModel>, owners: Owners) -> Self {
        Self { model, owners, meters: Meters::of(Kind::Article) }
    }

    /// What the owners say, beside the article it is about.
    async fn ask(&self, articles: &[ArticleId]) -> Result<Vec<(ArticleId, Option<Entry>)>, StoreError> {
        let told = self.owners.entries(articles).await?;
        match told.len() == articles.len() {
            true => Ok(articles.iter().copied().zip(told).collect()),
            false => Err(StoreError::broken("owners", "they answered for more or fewer articles than asked")),
        }
    }

    /// Asks for what a placeholder stands for; takes it away when there is no answer.
    async fn ask_for(
        &self,
        reservation: Reservation,
        articles: &[ArticleId],
    ) -> Result<Vec<(ArticleId, Option<Entry>)>, StoreError> {
        match self.ask(articles).await {
            Ok(told) => Ok(told),
            Err(error) => {
                self.model.abandon(reservation, articles).await?;
                Err(error)
            }
        }
    }

    /// Splits off what needs no load: it was loaded while its reader was on the way here.
    async fn left(&self, articles: &[ArticleId], known: &mut Known) -> Result<Vec<Wanted>, StoreError> {
        let mut left = Vec::new();
        for (article, look) in articles.iter().zip(self.model.find_anew(articles).await?) {
            match look {
                Lookup::Absent => drop(known.insert(*article, None)),
                Lookup::Found { entry, is_stale: false } if entry.shown() != Shown::Unknown => {
                    known.insert(*article, Some(entry));
                }
                Lookup::Found { entry, .. } => {
                    let stale = (entry.shown() != Shown::Unknown).then_some(entry);
                    left.push(Wanted { article: *article, stale });
                }
                Lookup::Miss => left.push(Wanted { article: *article, stale: None }),
            }
        }
        Ok(left)
    }

    /// Rebuilds what this process got the lease of.
    async fn rebuild(
        &self,
        reservation: Reservation,
        mut ours: Vec<Wanted>,
        is_shared: bool,
    ) -> Result<Known, StoreError> {
        let mut known = Known::new();
        if is_shared && !ours.is_empty() {
            // Between the look-up and the lease another process may have ended its rebuild.
            let articles: Vec<_> = ours.iter().map(|wanted| wanted.article).collect();
            ours = self.left(&articles, &mut known).await?;
            if !known.is_empty() {
                self.model.abandon(reservation, &known.keys().copied().collect::<Vec<_>>()).await?;
            }
        }
        if ours.is_empty() {
            return Ok(known);
        }
        let refreshes = ours.iter().filter(|wanted| wanted.stale.is_some()).count();
        self.meters.add(Meter::Refreshes, refreshes);
        self.meters.add(Meter::Rebuilds, ours.len() - refreshes);
        let articles: Vec<_> = ours.iter().map(|wanted| wanted.article).collect();
        let told = self.ask_for(reservation, &articles).await?;
        let filled = self.model.fill(reservation, told).await?;
        let stored = articles.into_iter().zip(filled).filter_map(|(article, filled)| match filled {
            Filled::Stored(entry) => Some((article, entry)),
            Filled::Retry => None,
        });
        known.extend(stored);
        Ok(known)
    }

    /// Waits for what another process is rebuilding; what is only past its time is answered as it is. A process that takes
    /// too long is not waited for: its rebuild saves work, and correctness does not depend on it.
    async fn rebuilt_elsewhere(&self, theirs: Vec<Wanted>) -> Result<Known, StoreError> {
        let mut known = Known::new();
        let mut waiting = Vec::new();
        for Wanted { article, stale } in theirs {
            match stale {
                Some(entry) => drop(known.insert(article, Some(entry))),
                None => waiting.push(article),
            }
        }
        let (since, mut pause) = (Instant::now(), LEASE_POLL_MIN);
        while !waiting.is_empty() && since.elapsed() < LEASE_WAIT {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LEASE_POLL_MAX);
            let left = self.left(&waiting, &mut known).await?;
            waiting = left.into_iter().map(|wanted| wanted.article).collect();
        }
        if !waiting.is_empty() {
            self.meters.add(Meter::Rebuilds, waiting.len());
            let told = self.ask(&waiting).await?;
            known.extend(waiting.into_iter().zip(self.model.keep_unshared(told).await?));
        }
        Ok(known)
    }
}

/// What is known of articles; `None` for one that does not exist.
type Known = HashMap<ArticleId, Option<Entry>>;

/// An article to be rebuilt, with what is past its time if there is something.
struct Wanted {
    article: ArticleId,
    stale: Option<Entry>,
}

#[async_trait]
impl Source<ArticleId, Option<Entry>> for EntrySource {
    async fn load(&self, articles: &[ArticleId]) -> Result<Vec<Option<Entry>>, StoreError> {
        let mut known = Known::with_capacity(articles.len());
        let mut left = articles.to_vec();
        for _ in 0..ROUNDS_MAX {
            let wanted = self.left(&left, &mut known).await?;
            if wanted.is_empty() {
                left.clear();
                break;
            }
            left = wanted.iter().map(|wanted| wanted.article).collect();
            let Lease { reservation, elsewhere, is_shared } = self.model.lease(&left).await?;
            let (theirs, ours) =
                wanted.into_iter().partition::<Vec<_>, _>(|wanted| elsewhere.contains(&wanted.article));
            // Both to their end: a rebuild that is dropped half way would keep its lease for nobody.
            let (rebuilt, waited_for) =
                tokio::join!(self.rebuild(reservation, ours, is_shared), self.rebuilt_elsewhere(theirs));
            known.extend(rebuilt?.into_iter().chain(waited_for?));
            left.retain(|article| !known.contains_key(article));
            if left.is_empty() {
                break;
            }
        }
        match left.is_empty() {
            true => Ok(articles.iter().map(|article| known.get(article).cloned().flatten()).collect()),
            false => Err(contradicted()),
        }
    }

    /// The text is where the board is, the counts where the parts of the article are.
    fn failure_domain(&self, article: &ArticleId) -> u32 {
        u32::from(article.shard().number()) << 8 | u32::from(ShardId::of_parts(*article).number())
    }
}

/// What a load of a list brought.
#[derive(Debug, Clone)]
pub(crate) enum LoadedList {
    /// The list.
    Kept(Arc<BoardList>),
    /// There is no such board.
    Absent,
    /// It had been loaded meanwhile: look again.
    There,
}

/// Loads the lists of boards.
pub(crate) struct ListSource {
    model: Arc<dyn ReadModel>,
    articles: Arc<dyn ArticleOwner>,
    meters: Meters,
}

impl ListSource {
    pub(crate) fn new(model: Arc<dyn ReadModel>, articles: Arc<dyn ArticleOwner>) -> Self {
        Self { model, articles, meters: Meters::of(Kind::Board) }
    }

    async fn rebuild(&self, board: BoardId) -> Result<LoadedList, StoreError> {
        for _ in 0..ROUNDS_MAX {
            let meter = match self.found(board).await? {
                ListLookup::Absent => return Ok(LoadedList::Absent),
                ListLookup::Found { is_stale: false, .. } => return Ok(LoadedList::There),
                ListLookup::Found { is_stale: true, .. } => Meter::Refreshes,
                ListLookup::Miss => Meter::Rebuilds,
            };
            let Some(reservation) = self.model.lease_list(board).await? else {
                match meter {
                    Meter::Refreshes => return Ok(LoadedList::There),
                    _ if self.is_rebuilt_elsewhere(board).await? => continue,
                    _ => return self.unshared(board).await,
                }
            };
            // Between the look-up and the lease another process may have ended its rebuild.
            if matches!(self.found(board).await?, ListLookup::Absent | ListLookup::Found { is_stale: false, .. }) {
                self.model.abandon_list(reservation, board).await?;
                continue;
            }
            self.meters.add(meter, 1);
            let told = match self.articles.newest(board, LIST_MAX).await {
                Ok(told) => told,
                Err(error) => {
                    self.model.abandon_list(reservation, board).await?;
                    return Err(error);
                }
            };
            if let Filled::Stored(list) = self.model.fill_list(reservation, board, told).await? {
                return Ok(list.map_or(LoadedList::Absent, LoadedList::Kept));
            }
        }
        Err(contradicted())
    }

    async fn found(&self, board: BoardId) -> Result<ListLookup, StoreError> {
        self.model.list_anew(board, Window::Before(None, PageSize::DEFAULT)).await
    }

    /// Waits until the process that rebuilds a list has done so; `false` when it takes too long.
    async fn is_rebuilt_elsewhere(&self, board: BoardId) -> Result<bool, StoreError> {
        let (since, mut pause) = (Instant::now(), LEASE_POLL_MIN);
        while since.elapsed() < LEASE_WAIT {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LEASE_POLL_MAX);
            if self.found(board).await? != ListLookup::Miss {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The list as its owner has it now, kept nowhere.
    async fn unshared(&self, board: BoardId) -> Result<LoadedList, StoreError> {
        self.meters.add(Meter::Rebuilds, 1);
        let told = self.articles.newest(board, LIST_MAX).await?;
        Ok(told.map_or(LoadedList::Absent, |newest| LoadedList::Kept(Arc::new(BoardList::of(newest)))))
    }
}

#[async_trait]
impl Source<BoardId, LoadedList> for ListSource {
    async fn load(&self, boards: &[BoardId]) -> Result<Vec<LoadedList>, StoreError> {
        let mut lists = Vec::with_capacity(boards.len());
        for board in boards {
            lists.push(self.rebuild(*board).await?);
        }
        Ok(lists)
    }

    fn failure_domain(&self, board: &BoardId) -> u32 {
        board.shard().number().into()
    }
}

fn contradicted() -> StoreError {
    StoreError::unavailable("query model", "events contradict what the owners say, again and again")
}
