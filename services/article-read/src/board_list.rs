//! The newest articles of a board, as candidates: which of them still exist is decided by their entries. Pure, so that
//! every store of the model keeps the same list.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use madang_board::ArticleId;
use madang_event::BoardCount;
use madang_kernel::{Id, PageNumber, PageSize};

use crate::{BoardChange, NewestArticles, Presence};

/// Ids that a list keeps; what is older comes from the owner.
pub const LIST_MAX: usize = 1_000;
/// Deleted and restored ids that a list remembers, so that a late creation does not bring the first back, and a late deletion
/// does not take the second away.
pub const GONE_MAX: usize = 1_000;
/// Changes that may come while a list is rebuilt; past it, the rebuild starts anew.
const CHANGES_MAX: usize = 10_000;
/// A list that deletions have thinned out below this, and that does not reach the board's end, is worth a refresh.
const THIN: usize = LIST_MAX / 2;

/// The part of a board that a reader asks for, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// A numbered page.
    Page(PageNumber, PageSize),
    /// The articles before a cursor, or the newest.
    Before(Option<ArticleId>, PageSize),
}

/// What a list says of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// All of it.
    Inside {
        /// The candidates, newest first.
        ids: Vec<ArticleId>,
        /// Where the next step of a cursor starts; `None` at the board's end, and for pages.
        next: Option<ArticleId>,
        /// How many articles the board holds.
        count: u64,
    },
    /// It lies, or may lie, beyond what the list holds.
    Outside,
}

/// The newest articles of one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardList {
    /// Newest first.
    ids: VecDeque<ArticleId>,
    /// The list holds every article of the board from this id on; `None` when it holds all there are.
    floor: Option<ArticleId>,
    /// What was last heard of ids at or above the floor that were deleted or restored, the newest ones.
    marks: BTreeMap<ArticleId, Mark>,
    count: BoardCount,
    /// The version of the count that was told with the list: what an event of that version or an older one says of deletions
    /// and restores is in the list already.
    told_at: u64,
}

/// A deletion or a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    /// The version of the board's count after it; 0 where a candidate turned out to be gone.
    version: u64,
    is_gone: bool,
}

impl BoardList {
    /// The list that the owner answered.
    pub fn of(newest: NewestArticles) -> Self {
        let NewestArticles { mut ids, is_all, count } = newest;
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids.dedup();
        // A list of nothing that is not all covers nothing: its floor lies above every id.
        let floor = if is_all { None } else { Some(ids.last().copied().unwrap_or(ArticleId::from_raw(i64::MAX))) };
        let mut list = Self { ids: ids.into(), floor, marks: BTreeMap::new(), count, told_at: count.version };
        list.trim();
        list
    }

    /// Applies what an event says.
    pub fn merge(&mut self, change: &BoardChange) {
        self.merge_count(change.count);
        match change.presence {
            Presence::There => self.insert(change.article_id),
            Presence::Gone => self.apply(change.article_id, Mark { version: change.count.version, is_gone: true }),
            Presence::Back => self.apply(change.article_id, Mark { version: change.count.version, is_gone: false }),
        }
    }

    /// Applies what came while the list was rebuilt; `false` when that was too much to remember.
    #[must_use]
    pub fn merge_all(&mut self, changes: &ListChanges) -> bool {
        changes.marks.iter().for_each(|(id, mark)| self.apply(*id, *mark));
        changes.there.iter().for_each(|id| self.insert(*id));
        if let Some(count) = changes.count {
            self.merge_count(count);
        }
        !changes.overflowed
    }

    /// A candidate turned out to be gone. Of one that was restored this is not believed: whoever looked may have seen the
    /// deletion before that, and a later one is told by its event.
    pub fn remove(&mut self, id: ArticleId) {
        self.apply(id, Mark { version: 0, is_gone: true });
    }

    /// Takes what is newer than all that was heard of an id.
    fn apply(&mut self, id: ArticleId, mark: Mark) {
        let known = self.marks.get(&id).copied();
        let is_told = mark.version <= self.told_at;
        if known.is_some_and(|known| known.version >= mark.version) || (mark.is_gone && mark.version > 0 && is_told) {
            return;
        }
        if self.reaches(id) {
            self.marks.insert(id, mark);
            if self.marks.len() > GONE_MAX {
                self.marks.pop_first();
            }
        }
        if mark.is_gone {
            if let Ok(place) = self.place(id) {
                self.ids.remove(place);
            }
        } else if !is_told || known.is_some_and(|known| known.is_gone) {
            self.insert(id);
        }
    }

    /// What the list says of a window.
    pub fn look(&self, window: Window) -> Step {
        match window {
            Window::Page(page, size) => {
                let start = usize::try_from(page.offset(size)).unwrap_or(usize::MAX).min(self.ids.len());
                let end = start.saturating_add(size.get() as usize);
                if self.floor.is_some() && end > self.ids.len() {
                    return Step::Outside;
                }
                self.inside(start, end.min(self.ids.len()), None)
            }
            Window::Before(before, size) => {
                let start = before.map_or(0, |before| self.ids.partition_point(|id| *id >= before));
                let end = start + size.get() as usize;
                // One more than is shown tells that the list goes on.
                match self.ids.len() > end {
                    true => self.inside(start, end, self.ids.get(end - 1).copied()),
                    false if self.floor.is_none() => self.inside(start, self.ids.len(), None),
                    false => Step::Outside,
                }
            }
        }
    }

    /// Whether an event that reports this article's presence can change anything but the count.
    pub fn knows(&self, id: ArticleId) -> bool {
        self.place(id).is_ok() || self.marks.contains_key(&id)
    }

    /// Whether deletions have left so little that the owner should be asked for more.
    pub fn is_thin(&self) -> bool {
        self.floor.is_some() && self.ids.len() < THIN
    }

    /// The board's count, with its version.
    pub fn count(&self) -> BoardCount {
        self.count
    }

    /// The newest of it, as an owner would tell them.
    pub fn newest(&self, limit: usize) -> NewestArticles {
        let ids: Vec<ArticleId> = self.ids.iter().take(limit).copied().collect();
        NewestArticles { is_all: self.floor.is_none() && ids.len() == self.ids.len(), ids, count: self.count }
    }

    /// Memory behind the list.
    pub fn weight_bytes(&self) -> usize {
        /// A tree's nodes are at least half full.
        const MARK_BYTES: usize = 2 * (size_of::<ArticleId>() + size_of::<Mark>()) + 8;
        size_of::<Self>() + self.ids.capacity() * size_of::<ArticleId>() + self.marks.len() * MARK_BYTES
    }

    fn insert(&mut self, id: ArticleId) {
        if !self.reaches(id) || self.marks.get(&id).is_some_and(|mark| mark.is_gone) {
            return;
        }
        if let Err(place) = self.place(id) {
            self.ids.insert(place, id);
            self.trim();
        }
    }

    fn trim(&mut self) {
        if self.ids.len() <= LIST_MAX {
            return;
        }
        self.ids.truncate(LIST_MAX);
        self.floor = self.ids.back().copied();
        if let Some(floor) = self.floor {
            self.marks = self.marks.split_off(&floor);
        }
    }

    fn merge_count(&mut self, count: BoardCount) {
        if count.version > self.count.version {
            self.count = count;
        }
    }

    fn inside(&self, start: usize, end: usize, next: Option<ArticleId>) -> Step {
        Step::Inside { ids: self.ids.range(start..end).copied().collect(), next, count: self.count.article_count }
    }

    fn reaches(&self, id: ArticleId) -> bool {
        self.floor.is_none_or(|floor| id >= floor)
    }

    fn place(&self, id: ArticleId) -> Result<usize, usize> {
        self.ids.binary_search_by(|known| id.cmp(known))
    }
}

/// What came for a list while it was rebuilt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListChanges {
    there: BTreeSet<ArticleId>,
    marks: BTreeMap<ArticleId, Mark>,
    count: Option<BoardCount>,
    overflowed: bool,
}

impl ListChanges {
    /// Remembers what an event says.
    pub fn merge(&mut self, change: &BoardChange) {
        let version = change.count.version;
        match change.presence {
            Presence::There => drop(self.there.insert(change.article_id)),
            Presence::Gone => self.mark(change.article_id, Mark { version, is_gone: true }),
            Presence::Back => self.mark(change.article_id, Mark { version, is_gone: false }),
        }
        if self.count.is_none_or(|count| change.count.version > count.version) {
            self.count = Some(change.count);
        }
        self.bound();
    }

    /// A candidate turned out to be gone.
    pub fn remove(&mut self, id: ArticleId) {
        self.mark(id, Mark { version: 0, is_gone: true });
        self.bound();
    }

    fn mark(&mut self, id: ArticleId, mark: Mark) {
        let known = self.marks.entry(id).or_insert(mark);
        if mark.version > known.version {
            *known = mark;
        }
    }

    /// Whether an event came: then the board exists.
    pub fn tell_of_the_board(&self) -> bool {
        self.count.is_some()
    }

    fn bound(&mut self) {
        if self.there.len() + self.marks.len() > CHANGES_MAX {
            *self = Self { count: self.count, overflowed: true, ..Self::default() };
        }
    }
}

#[cfg(test)]
mod tests;
