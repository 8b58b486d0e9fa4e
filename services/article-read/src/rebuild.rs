//! Rebuilds of entries and lists from their owners, always through a placeholder: what is merged meanwhile is kept.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id as _, PageSize, ShardId, StoreError};

use crate::loader::Source;
use crate::meters::{Kind, Meter, Meters};
use crate::{
    ArticleOwner, BoardList, Entry, Filled, LIST_MAX, ListLookup, Lookup, Owners, ReadModel, Reservation, Shown, Window,
};

/// How often a rebuild that is contradicted meanwhile starts anew before its readers get `Unavailable`.
const ROUNDS_MAX: usize = 5;

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
    async fn left(
        &self,
        articles: &[ArticleId],
        keep: &mut impl FnMut(ArticleId, Option<Entry>),
    ) -> Result<Vec<ArticleId>, StoreError> {
        let mut left = Vec::new();
        let mut stale = 0;
        for (article, look) in articles.iter().zip(self.model.find(articles).await?) {
            match look {
                Lookup::Absent => keep(*article, None),
                Lookup::Found { entry, is_stale: false } if entry.shown() != Shown::Unknown => {
                    keep(*article, Some(entry));
                }
                Lookup::Found { .. } => {
                    stale += 1;
                    left.push(*article);
                }
                Lookup::Miss => left.push(*article),
            }
        }
        self.meters.add(Meter::Refreshes, stale);
        self.meters.add(Meter::Rebuilds, left.len() - stale);
        Ok(left)
    }
}

#[async_trait]
impl Source<ArticleId, Option<Entry>> for EntrySource {
    async fn load(&self, articles: &[ArticleId]) -> Result<Vec<Option<Entry>>, StoreError> {
        let mut known = HashMap::with_capacity(articles.len());
        let mut left = articles.to_vec();
        for _ in 0..ROUNDS_MAX {
            left = self.left(&left, &mut |article, entry| drop(known.insert(article, entry))).await?;
            if left.is_empty() {
                break;
            }
            let reservation = self.model.reserve(&left).await?;
            let told = self.ask_for(reservation, &left).await?;
            let filled = self.model.fill(reservation, told).await?;
            for (article, filled) in left.iter().zip(filled) {
                if let Filled::Stored(entry) = filled {
                    known.insert(*article, entry);
                }
            }
            left.retain(|article| !known.contains_key(article));
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
        let meter = match self.model.list(board, Window::Before(None, PageSize::DEFAULT)).await? {
            ListLookup::Absent => return Ok(LoadedList::Absent),
            ListLookup::Found { is_stale: false, .. } => return Ok(LoadedList::There),
            ListLookup::Found { is_stale: true, .. } => Meter::Refreshes,
            ListLookup::Miss => Meter::Rebuilds,
        };
        self.meters.add(meter, 1);
        for _ in 0..ROUNDS_MAX {
            let reservation = self.model.reserve_list(board).await?;
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
