//! Builds rankings from their owners. Of the most active, those without comments are among the newest, and the others among
//! the last commented: whoever is in neither list stands below all of one of them.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId};
use madang_event::ArticlePlace;
use madang_kernel::{Clock, Id as _, StoreError, Timestamp};

use crate::loader::Source;
use crate::ranking::{Candidate, RANKING_MAX, Rank, Ranking, RankingKey, first_at};
use crate::rankings::Rankings;
use crate::{ActiveArticle, Owners, ReadModel};

/// How often a building that is contradicted meanwhile starts anew.
const ROUNDS_MAX: usize = 5;
/// How often more of the last commented are asked for, because moderators removed some of them.
const SLICES_MAX: usize = 8;
/// Articles whose counts an owner is asked for at once.
const COUNTS_SLICE: usize = 250;

/// Whether there is such a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loaded {
    Kept,
    /// There is no such board.
    Absent,
}

pub(crate) struct RankingSource {
    pub(crate) rankings: Arc<Rankings>,
    pub(crate) model: Arc<dyn ReadModel>,
    pub(crate) owners: Owners,
    pub(crate) clock: Arc<dyn Clock>,
}

#[async_trait]
impl Source<RankingKey, Loaded> for RankingSource {
    async fn load(&self, keys: &[RankingKey]) -> Result<Vec<Loaded>, StoreError> {
        let mut loaded = Vec::with_capacity(keys.len());
        for key in keys {
            loaded.push(self.build(*key).await?);
        }
        Ok(loaded)
    }

    fn failure_domain(&self, key: &RankingKey) -> u32 {
        match key {
            RankingKey::SiteNewest | RankingKey::SiteActive => u32::MAX,
            RankingKey::BoardActive(board) => board.shard().number().into(),
        }
    }
}

impl RankingSource {
    async fn build(&self, key: RankingKey) -> Result<Loaded, StoreError> {
        for _ in 0..ROUNDS_MAX {
            let now = self.clock.now();
            if self.rankings.is_fresh(key, self.model.ranking_ttl(), now) {
                return Ok(Loaded::Kept);
            }
            self.rankings.begin(key);
            match ask(&self.owners, key).await {
                Ok(Some(ranking)) => {
                    if self.rankings.built(key, ranking, now) {
                        return Ok(Loaded::Kept);
                    }
                }
                Ok(None) => {
                    self.rankings.abandon(key, true);
                    return Ok(Loaded::Absent);
                }
                Err(error) => {
                    self.rankings.abandon(key, false);
                    return Err(error);
                }
            }
        }
        Err(StoreError::unavailable("query model", "rankings change faster than they can be built"))
    }
}

/// The ranking as the owners have it; `None` when there is no such board.
pub(crate) async fn ask(owners: &Owners, key: RankingKey) -> Result<Option<Ranking>, StoreError> {
    match key {
        RankingKey::SiteNewest => {
            let newest = Newest::of_site(owners).await?;
            let floor = newest.floor(key);
            let told = newest.places.iter().map(|place| (place.article_id, created(*place)));
            Ok(Some(Ranking::of(key, told, floor)))
        }
        RankingKey::SiteActive => active(owners, key, None, Newest::of_site(owners).await?).await.map(Some),
        RankingKey::BoardActive(board) => match Newest::of_board(owners, board).await? {
            Some(newest) => active(owners, key, Some(board), newest).await.map(Some),
            None => Ok(None),
        },
    }
}

/// The newest articles of a board or of the site.
struct Newest {
    places: Vec<ArticlePlace>,
    is_all: bool,
}

impl Newest {
    async fn of_site(owners: &Owners) -> Result<Self, StoreError> {
        let places = owners.articles.site_newest(None, RANKING_MAX).await?;
        Ok(Self { is_all: places.len() < RANKING_MAX, places })
    }

    async fn of_board(owners: &Owners, board: BoardId) -> Result<Option<Self>, StoreError> {
        let Some(newest) = owners.articles.newest(board, RANKING_MAX).await? else { return Ok(None) };
        let places = owners.articles.places(&newest.ids).await?;
        Ok(Some(Self { places: places.into_iter().flatten().collect(), is_all: newest.is_all }))
    }

    /// Below which articles without comments may be missing. Ids are in the order of creation, and moments so nearly that none
    /// is later than those of the oldest quarter of a thousand articles with greater ids.
    fn floor(&self, key: RankingKey) -> Option<Rank> {
        if self.is_all {
            return None;
        }
        let places = self.places.iter();
        match key {
            RankingKey::SiteNewest => places.filter_map(|place| key.rank(place.article_id, created(*place))).min(),
            RankingKey::SiteActive | RankingKey::BoardActive(_) => {
                let oldest = self.places.len() - self.places.len() / 4;
                places.skip(oldest).map(|place| place.created_at).max().map(above)
            }
        }
    }
}

fn created(place: ArticlePlace) -> Candidate {
    Candidate { version: 0, last_at: None, created_at: Some(place.created_at) }
}

async fn active(
    owners: &Owners,
    key: RankingKey,
    board: Option<BoardId>,
    newest: Newest,
) -> Result<Ranking, StoreError> {
    let mut told: HashMap<ArticleId, Candidate> = HashMap::new();
    let floor = newest.floor(key);
    let ids: Vec<ArticleId> = newest.places.iter().map(|place| place.article_id).collect();
    for (places, ids) in newest.places.chunks(COUNTS_SLICE).zip(ids.chunks(COUNTS_SLICE)) {
        for (place, comments) in places.iter().zip(owners.comments.comment_counts(ids).await?) {
            // Of one that is known to be deleted nothing is told.
            let Some(comments) = comments else { continue };
            let last_at = comments.last.as_ref().map(|last| last.created_at);
            told.insert(place.article_id, Candidate { version: comments.version, last_at, ..created(*place) });
        }
    }
    let commented_floor = add_commented(owners, board, &mut told).await?;
    Ok(Ranking::of(key, told, floor.max(commented_floor)))
}

/// Adds the last commented that still exist, as many as a ranking keeps; returns below which there may be others.
async fn add_commented(
    owners: &Owners,
    board: Option<BoardId>,
    told: &mut HashMap<ArticleId, Candidate>,
) -> Result<Option<Rank>, StoreError> {
    let (mut until, mut found) = (Timestamp::from_millis(i64::MAX), 0);
    for _ in 0..SLICES_MAX {
        let slice = owners.comments.active(board, until, RANKING_MAX).await?;
        let ids: Vec<ArticleId> = slice.iter().map(|active| active.article_id).collect();
        for (active, place) in slice.iter().zip(owners.articles.places(&ids).await?) {
            let &ActiveArticle { article_id, last_at, version } = active;
            // What a moderator removed is still counted, and in no list.
            let Some(place) = place.filter(|place| board.is_none_or(|board| board == place.board_id)) else { continue };
            found += 1;
            let candidate = Candidate { version, last_at: Some(last_at), ..created(place) };
            let known = told.entry(article_id).or_insert(candidate);
            if known.version < version {
                *known = candidate;
            }
        }
        let last = slice.last().map(|last| last.last_at);
        match last.filter(|_| slice.len() >= RANKING_MAX) {
            None => return Ok(None),
            Some(last) if found >= RANKING_MAX || last >= until => return Ok(Some(above(last))),
            Some(last) => until = last,
        }
    }
    Ok(Some(above(until)))
}

/// Every article that was last commented after this moment is told; of those at it, some may not be.
fn above(at: Timestamp) -> Rank {
    first_at(Timestamp::from_millis(at.as_millis().saturating_add(1)))
}
