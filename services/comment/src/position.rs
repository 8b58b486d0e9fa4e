//! The position of a new comment, or why it may not be there.

use madang_board::{CommentId, CommentMode};

use crate::{CommentPath, LevelFull};

/// The deepest that any configuration may allow: a path of 250 characters.
pub const DEPTH_LIMIT: u32 = 50;
/// Comments and replies.
const TWO_LEVELS: u32 = 2;

/// How deep a tree of comments may grow: 1 to 50 levels, 5 unless configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthMax(u32);

impl DepthMax {
    /// Taken when the configuration does not say.
    pub const DEFAULT: Self = Self(5);

    /// Checks the range.
    pub fn new(levels: u32) -> Option<Self> {
        (1..=DEPTH_LIMIT).contains(&levels).then_some(Self(levels))
    }

    /// Whether a comment at this depth can be replied to.
    pub fn takes_replies(self, mode: CommentMode, depth: u32) -> bool {
        match mode {
            CommentMode::TwoLevel => depth < TWO_LEVELS,
            CommentMode::Tree => depth < self.0,
        }
    }

    /// The number of levels.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// A comment that is to be replied to, as it stands on the same article.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// The comment.
    pub comment_id: CommentId,
    /// How deep it is.
    pub depth: u32,
    /// Its path in a tree.
    pub path: Option<CommentPath>,
    /// Whether only its mark is left.
    pub deleted: bool,
}

/// The position of a comment among those of its article.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// 1 for a root.
    pub depth: u32,
    /// Its path in a tree.
    pub path: Option<CommentPath>,
}

/// Why a comment may not be where it was asked to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The article has no such comment, or it was deleted.
    #[error("is not a comment on this article, or has been deleted")]
    NoParent,
    /// Two levels are all that the board has.
    #[error("is a reply, and on this board replies cannot be replied to")]
    ReplyToReply,
    /// The tree may not grow deeper.
    #[error("is at level {}, the deepest that replies can go on this site", .0.get())]
    TooDeep(DepthMax),
    /// No further sibling fits.
    #[error(transparent)]
    LevelFull(#[from] LevelFull),
}

/// The position of a reply to `parent`, or of a root. `last_descendant` finds the greatest path below a given one; it is
/// asked only for a tree.
pub(crate) fn position_of_new<'p>(
    mode: CommentMode,
    depth_max: DepthMax,
    parent: Option<&Parent>,
    last_descendant: impl FnOnce(&CommentPath) -> Option<&'p CommentPath>,
) -> Result<Position, Refusal> {
    if parent.is_some_and(|parent| parent.deleted) {
        return Err(Refusal::NoParent);
    }
    let depth = parent.map_or(0, |parent| parent.depth) + 1;
    match mode {
        CommentMode::TwoLevel if depth > TWO_LEVELS => Err(Refusal::ReplyToReply),
        CommentMode::TwoLevel => Ok(Position { depth, path: None }),
        CommentMode::Tree if depth > depth_max.get() => Err(Refusal::TooDeep(depth_max)),
        CommentMode::Tree => {
            let above = match parent {
                // Without a path the parent is of no tree.
                Some(parent) => parent.path.clone().ok_or(Refusal::NoParent)?,
                None => CommentPath::of_article(),
            };
            let path = above.next_child(last_descendant(&above))?;
            Ok(Position { depth, path: Some(path) })
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    fn parent(depth: u32) -> Parent {
        let path = "0000A".repeat(depth as usize).parse().unwrap();
        Parent { comment_id: CommentId::from_raw(7), depth, path: Some(path), deleted: false }
    }

    fn placed(mode: CommentMode, depth_max: u32, parent: Option<&Parent>) -> Result<Position, Refusal> {
        position_of_new(mode, DepthMax::new(depth_max).unwrap(), parent, |_| None)
    }

    #[test]
    fn two_levels_are_two() {
        assert_eq!(placed(CommentMode::TwoLevel, 5, None), Ok(Position { depth: 1, path: None }));
        assert_eq!(placed(CommentMode::TwoLevel, 5, Some(&parent(1))), Ok(Position { depth: 2, path: None }));
        assert_eq!(placed(CommentMode::TwoLevel, 5, Some(&parent(2))), Err(Refusal::ReplyToReply));
    }

    #[test]
    fn what_takes_replies_is_what_can_be_replied_to() {
        for (mode, limit, depth) in [
            (CommentMode::TwoLevel, 5, 1),
            (CommentMode::TwoLevel, 5, 2),
            (CommentMode::Tree, 5, 4),
            (CommentMode::Tree, 5, 5),
            (CommentMode::Tree, 1, 1),
        ] {
            let takes = DepthMax::new(limit).unwrap().takes_replies(mode, depth);
            assert_eq!(takes, placed(mode, limit, Some(&parent(depth))).is_ok(), "{mode:?} {limit} {depth}");
        }
    }

    #[test]
    fn a_tree_grows_to_its_limit_and_no_deeper() {
        for limit in [1, 2, 5, DEPTH_LIMIT] {
            let deepest = (limit > 1).then(|| parent(limit - 1));
            let found = placed(CommentMode::Tree, limit, deepest.as_ref()).unwrap();
            assert_eq!((found.depth, found.path.unwrap().depth()), (limit, limit));
            let refused = placed(CommentMode::Tree, limit, Some(&parent(limit)));
            assert_eq!(refused, Err(Refusal::TooDeep(DepthMax::new(limit).unwrap())));
        }
        assert_eq!((DepthMax::new(0), DepthMax::new(DEPTH_LIMIT + 1)), (None, None));
    }

    #[test]
    fn a_deleted_comment_gets_no_reply() {
        let mark = Parent { deleted: true, ..parent(1) };
        for mode in [CommentMode::TwoLevel, CommentMode::Tree] {
            assert_eq!(placed(mode, 5, Some(&mark)), Err(Refusal::NoParent));
        }
    }

    #[test]
    fn a_full_level_is_refused() {
        let full: CommentPath = "zzzzz".parse().unwrap();
        let refused = position_of_new(CommentMode::Tree, DepthMax::DEFAULT, None, |_| Some(&full));
        assert_eq!(refused, Err(Refusal::LevelFull(LevelFull)));
    }
}
