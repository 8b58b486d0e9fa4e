//! The lists of boards against their owner, for a check beside people at work: only what is still wrong at a second look is
//! wrong. A count whose version no event can pass stays wrong however long one waits.

use std::collections::HashSet;
use std::fmt;

use madang_board::{ArticleId, BoardId};
use madang_event::BoardCount;
use madang_kernel::StoreError;

use crate::{NewestArticles, ReadService};

/// Newest articles of a board that are compared: what people see first.
const COMPARED: usize = 100;

/// A list that the model has otherwise than its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListDifference {
    /// The board.
    pub board_id: BoardId,
    /// What is different.
    pub kind: ListDifferenceKind,
}

/// What is different in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListDifferenceKind {
    /// The board's count.
    Count {
        /// The count in the model.
        held: BoardCount,
        /// The count of the owner.
        owned: BoardCount,
    },
    /// An article is on the board and not in the list.
    Missing(ArticleId),
    /// There is no such board.
    NoBoard,
}

impl ReadService {
    /// Compares what the model holds of the lists of boards with their owner; loads nothing into it. How many were held, and
    /// what differs.
    pub async fn compare_lists(&self, boards: &[BoardId]) -> Result<(u64, Vec<ListDifference>), StoreError> {
        let (mut lists, mut differences) = (0, Vec::new());
        for board in boards {
            let Some(held) = self.model.held_list(*board, COMPARED).await? else { continue };
            lists += 1;
            let owned = self.owners.articles.newest(*board, COMPARED).await?;
            let kind = owned.map_or(Some(ListDifferenceKind::NoBoard), |owned| differing(&held, &owned));
            differences.extend(kind.map(|kind| ListDifference { board_id: *board, kind }));
        }
        Ok((lists, differences))
    }

    /// Of differences that were found a moment ago, those that are still there.
    pub async fn lists_still_differing(&self, found: Vec<ListDifference>) -> Result<Vec<ListDifference>, StoreError> {
        let boards: Vec<BoardId> = found.iter().map(|difference| difference.board_id).collect();
        let (_, now) = self.compare_lists(&boards).await?;
        Ok(now.into_iter().filter(|now| found.iter().any(|then| now.persists_since(then))).collect())
    }
}

/// What differs in a list, if anything. A candidate that is gone is no difference: its entry decides.
fn differing(held: &NewestArticles, owned: &NewestArticles) -> Option<ListDifferenceKind> {
    if held.count != owned.count {
        return Some(ListDifferenceKind::Count { held: held.count, owned: owned.count });
    }
    let candidates: HashSet<ArticleId> = held.ids.iter().copied().collect();
    // Candidates that are gone may have pushed the oldest out of what is compared.
    let reaches = |article: &ArticleId| held.is_all || held.ids.last().is_some_and(|last| article >= last);
    let missing = owned.ids.iter().find(|article| reaches(article) && !candidates.contains(article));
    missing.copied().map(ListDifferenceKind::Missing)
}

impl ListDifference {
    /// A model that has moved meanwhile has merely not kept up, unless it is ahead of its owner.
    fn persists_since(&self, then: &Self) -> bool {
        use ListDifferenceKind::Count;
        self.board_id == then.board_id
            && match (self.kind, then.kind) {
                (Count { held, owned }, Count { held: before, .. }) => held == before || held.version > owned.version,
                (now, then) => now == then,
            }
    }
}

impl fmt::Display for ListDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let board = self.board_id;
        match self.kind {
            ListDifferenceKind::Count { held, owned } => write!(
                f,
                "board {board}: the query model counts {} articles (version {}), the owner {} (version {})",
                held.article_count, held.version, owned.article_count, owned.version
            ),
            ListDifferenceKind::Missing(article) => {
                write!(f, "board {board}: the list of the query model lacks article {article}")
            }
            ListDifferenceKind::NoBoard => {
                write!(f, "board {board}: the query model has a list, and there is no such board")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id as _;

    use super::*;

    fn list(ids: &[i64], is_all: bool, version: u64) -> NewestArticles {
        let ids: Vec<_> = ids.iter().copied().map(ArticleId::from_raw).collect();
        NewestArticles { count: BoardCount { article_count: 3, version }, ids, is_all }
    }

    #[test]
    fn a_list_lacks_what_its_owner_has_and_may_have_more() {
        let owned = list(&[9, 7, 5], true, 3);
        assert_eq!(differing(&list(&[9, 8, 7, 5], true, 3), &owned), None, "a candidate that is gone");
        let missing = Some(ListDifferenceKind::Missing(ArticleId::from_raw(7)));
        assert_eq!(differing(&list(&[9, 5], true, 3), &owned), missing);
        assert_eq!(differing(&list(&[9, 8, 7], false, 3), &owned), None, "the oldest may lie behind");
    }

    #[test]
    fn a_count_that_no_event_can_correct_persists() {
        let difference = |held: u64, owned: u64| {
            let kind = differing(&list(&[], true, held), &list(&[], true, owned)).unwrap();
            ListDifference { board_id: BoardId::from_raw(1), kind }
        };
        assert!(difference(1 << 40, 4).persists_since(&difference(1 << 40, 3)));
        assert!(difference(3, 5).persists_since(&difference(3, 4)), "it does not move");
        assert!(!difference(4, 5).persists_since(&difference(3, 4)), "it keeps up");
    }
}
