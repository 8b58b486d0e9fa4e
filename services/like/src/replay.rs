//! Likes of one article that arrive together: each is answered as if it had come alone, and all of them make one change.

use std::collections::{BTreeMap, BTreeSet};

use madang_board::MemberId;

use crate::{LikeCount, LikeState};

/// One article while the calls of a transaction are applied to it in memory, in their order.
#[derive(Debug, Clone)]
pub struct Replay {
    before: LikeCount,
    like_count: u64,
    /// Those of the members involved who liked it before.
    liked_before: BTreeSet<MemberId>,
    /// What each member involved wants in the end.
    likes: BTreeMap<MemberId, bool>,
}

/// What the calls of a transaction come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// The counter afterwards; the one from before when nobody's mind changed in the end.
    pub count: LikeCount,
    /// Who likes it now and did not before.
    pub liked: Vec<MemberId>,
    /// Who no longer likes it.
    pub unliked: Vec<MemberId>,
}

impl Replayed {
    /// Whether there is anything to write and to report.
    pub fn is_change(&self) -> bool {
        !(self.liked.is_empty() && self.unliked.is_empty())
    }
}

impl Replay {
    /// Starts from the stored counter and from those of the members involved who like the article.
    pub fn new(before: LikeCount, likers: impl IntoIterator<Item = MemberId>) -> Self {
        let liked_before: BTreeSet<_> = likers.into_iter().collect();
        let likes = liked_before.iter().map(|member| (*member, true)).collect();
        Self { before, like_count: before.like_count, liked_before, likes }
    }

    /// The member likes the article, or no longer does. Answers the state at this point, and whether the call changed it.
    pub fn apply(&mut self, member: MemberId, liked: bool) -> (LikeState, bool) {
        let changed = self.likes.insert(member, liked).unwrap_or(false) != liked;
        if changed {
            self.like_count = if liked { self.like_count.saturating_add(1) } else { self.like_count.saturating_sub(1) };
        }
        (LikeState { liked, like_count: self.like_count }, changed)
    }

    /// What all calls come to. Who likes and takes it back within one transaction has changed nothing.
    pub fn finish(self) -> Replayed {
        let differs = |liked: bool| {
            let before = &self.liked_before;
            let members =
                self.likes.iter().filter(move |(member, now)| **now == liked && before.contains(*member) != liked);
            members.map(|(member, _)| *member).collect::<Vec<_>>()
        };
        let (liked, unliked) = (differs(true), differs(false));
        let mut count = self.before;
        if !(liked.is_empty() && unliked.is_empty()) {
            count = LikeCount { like_count: self.like_count, version: self.before.version + 1 };
        }
        Replayed { count, liked, unliked }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use madang_kernel::Id;
    use proptest::prelude::*;

    use super::*;

    fn member(number: i64) -> MemberId {
        MemberId::from_raw(number)
    }

    proptest! {
        #[test]
        fn a_replay_answers_and_ends_as_a_set_would(
            before in proptest::collection::hash_set(1i64..20, 0..20),
            calls in proptest::collection::vec((1i64..20, any::<bool>()), 0..100),
            version in 0u64..1_000,
        ) {
            let start = LikeCount { like_count: before.len() as u64, version };
            let involved: HashSet<i64> = calls.iter().map(|(number, _)| *number).collect();
            let mut replay = Replay::new(start, before.intersection(&involved).map(|number| member(*number)));
            let mut model = before.clone();
            for (number, liked) in calls {
                let changed = if liked { model.insert(number) } else { model.remove(&number) };
                let state = LikeState { liked, like_count: model.len() as u64 };
                prop_assert_eq!(replay.apply(member(number), liked), (state, changed));
            }
            let ended = replay.finish();
            prop_assert_eq!(ended.count.like_count, model.len() as u64);
            prop_assert_eq!(ended.count.version, version + u64::from(model != before));
            prop_assert_eq!(ended.is_change(), model != before);
            let expected = |from: &HashSet<i64>, to: &HashSet<i64>| {
                to.difference(from).map(|number| member(*number)).collect::<HashSet<_>>()
            };
            prop_assert_eq!(ended.liked.into_iter().collect::<HashSet<_>>(), expected(&before, &model));
            prop_assert_eq!(ended.unliked.into_iter().collect::<HashSet<_>>(), expected(&model, &before));
        }
    }

    #[test]
    fn a_like_taken_back_at_once_is_no_change() {
        let mut replay = Replay::new(LikeCount::default(), []);
        assert!(replay.apply(member(1), true).1);
        assert_eq!(replay.apply(member(1), false), (LikeState { liked: false, like_count: 0 }, true));
        let ended = replay.finish();
        assert!(!ended.is_change());
        assert_eq!(ended.count, LikeCount::default());
    }
}
