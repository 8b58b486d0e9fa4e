//! Use cases of lists that no board keeps for itself: the newest of the site, and what is active.

use madang_board::{ArticleId, BoardId};
use madang_kernel::{PageSize, Scroll, StoreError};

use crate::ranking::{Candidate, Rank, RankedStep, RankingKey};
use crate::ranking_source::Loaded;
use crate::rankings::{Looked, activities};
use crate::service::ReadService;
use crate::{Invalidation, ReadArticle, ReadSummary};

/// How often a ranking whose candidates turn out to be gone or elsewhere is looked at again before it is answered as it is.
const ROUNDS_MAX: usize = 4;

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By creation.
    #[default]
    Newest,
    /// By the last activity: the newest visible comment, or the creation where there is none.
    Active,
}

/// A step of a ranking.
pub type Ranked = Scroll<ReadSummary, Rank>;

impl ReadService {
    /// Articles of the whole site before a place, or the first. The newest go down to the oldest; of what is active, the list
    /// ends with the last of [`RANKING_MAX`](crate::RANKING_MAX).
    pub async fn site(&self, sort: Sort, before: Option<Rank>, size: PageSize) -> Result<Ranked, StoreError> {
        let key = match sort {
            Sort::Newest => RankingKey::SiteNewest,
            Sort::Active => RankingKey::SiteActive,
        };
        Ok(self.ranked(key, before, size).await?.unwrap_or(Scroll { items: Vec::new(), next: None }))
    }

    /// The last active articles of a board before a place, or the first; `None` when there is no such board.
    pub async fn active(
        &self,
        board: BoardId,
        before: Option<Rank>,
        size: PageSize,
    ) -> Result<Option<Ranked>, StoreError> {
        let ranked = self.ranked(RankingKey::BoardActive(board), before, size).await?;
        // Only an empty board can be deleted, and no event tells of it: the owner does.
        if ranked.as_ref().is_some_and(|ranked| ranked.items.is_empty())
            && self.owners.articles.newest(board, 1).await?.is_none()
        {
            return Ok(None);
        }
        Ok(ranked)
    }

    /// Hears what other processes committed. Own commits come by [`ReadService::note_committed`].
    pub fn hear(&self, heard: &[Invalidation]) {
        self.rankings.hear(activities(heard));
    }

    async fn ranked(
        &self,
        key: RankingKey,
        before: Option<Rank>,
        size: PageSize,
    ) -> Result<Option<Ranked>, StoreError> {
        let mut rounds = 0;
        loop {
            let Some((step, build)) = self.ranked_step(key, before, size).await? else { return Ok(None) };
            let ids: Vec<ArticleId> = step.places.iter().map(|(rank, _)| rank.article_id).collect();
            let read = self.articles(&ids).await?;
            rounds += 1;
            if self.corrected(key, build, &step, &read) && rounds < ROUNDS_MAX {
                continue;
            }
            let last = step.places.last().map(|(rank, _)| *rank);
            let mut items: Vec<ReadSummary> = read.into_iter().flatten().map(ReadSummary::from).collect();
            if key != RankingKey::SiteNewest {
                items.sort_by_key(|item| std::cmp::Reverse(item.rank()));
            }
            if step.has_more {
                return Ok(Some(Scroll { items, next: last }));
            }
            if key == RankingKey::SiteNewest && !step.is_all {
                return self.below(before, size).await.map(Some);
            }
            return Ok(Some(Scroll { items, next: None }));
        }
    }

    /// Tells the ranking what the entries of its candidates say; whether that was something else.
    fn corrected(&self, key: RankingKey, build: u64, step: &RankedStep, read: &[Option<ReadArticle>]) -> bool {
        let (mut gone, mut elsewhere) = (Vec::new(), Vec::new());
        for ((rank, version), read) in step.places.iter().zip(read) {
            match read {
                None => gone.push(rank.article_id),
                Some(read) if key != RankingKey::SiteNewest && read.comment_version > *version => {
                    let (last_at, created_at) =
                        (read.last.as_ref().map(|last| last.created_at), Some(read.text.head.created_at));
                    let candidate = Candidate { version: read.comment_version, last_at, created_at };
                    elsewhere.push((rank.article_id, candidate));
                }
                Some(_) => {}
            }
        }
        self.rankings.remove(key, build, &gone);
        self.rankings.correct(key, build, &elsewhere);
        !gone.is_empty() || !elsewhere.is_empty()
    }

    /// A window with the build it is of; `None` when there is no such board.
    async fn ranked_step(
        &self,
        key: RankingKey,
        before: Option<Rank>,
        size: PageSize,
    ) -> Result<Option<(RankedStep, u64)>, StoreError> {
        for _ in 0..ROUNDS_MAX {
            let ttl = self.model.ranking_ttl();
            match self.rankings.look(key, before, size.get() as usize, ttl, self.clock.now()) {
                Looked::Found { step, build, is_stale } => {
                    if is_stale {
                        self.ranking_loads.refresh(&[key]);
                    }
                    return Ok(Some((step, build)));
                }
                Looked::Miss => {
                    if self.ranking_loads.load(&[key]).await?.pop() == Some(Loaded::Absent) {
                        return Ok(None);
                    }
                }
            }
        }
        Err(StoreError::unavailable("query model", "rankings change faster than they can be read"))
    }

    /// Past the ranking of the newest the owner answers.
    async fn below(&self, before: Option<Rank>, size: PageSize) -> Result<Ranked, StoreError> {
        let wanted = size.get() as usize;
        let before = before.map(|rank| rank.article_id);
        let mut places = self.owners.articles.site_newest(before, wanted + 1).await?;
        let has_more = places.len() > wanted;
        places.truncate(wanted);
        let ids: Vec<ArticleId> = places.iter().map(|place| place.article_id).collect();
        let next = ids
            .last()
            .copied()
            .filter(|_| has_more)
            .and_then(|last| RankingKey::SiteNewest.rank(last, Candidate::default()));
        let items = self.articles(&ids).await?.into_iter().flatten().map(ReadSummary::from).collect();
        Ok(Scroll { items, next })
    }
}
