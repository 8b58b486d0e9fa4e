//! A list of comments as a page shows it: no deeper than five levels, the rest behind "continue this thread".

use madang_comment::Comment;

/// Levels shown below one another; what lies deeper has a page of its own.
pub(crate) const LEVELS_SHOWN: u32 = 5;

/// A comment with its level on the page.
#[derive(Debug)]
pub(crate) struct ShownComment {
    /// The comment.
    pub(crate) comment: Comment,
    /// Its level on this page, from 1.
    pub(crate) level: u32,
    /// Whether replies below it are not shown here.
    pub(crate) continues: bool,
}

/// Comments as a page shows them.
pub(crate) struct CommentList {
    /// Depth first, oldest first.
    pub(crate) items: Vec<ShownComment>,
    /// Where it goes on.
    pub(crate) next: Option<String>,
    /// Whether it starts with the first comment.
    pub(crate) is_start: bool,
    /// Whether it is one thread.
    pub(crate) is_thread: bool,
}

impl CommentList {
    /// Levels the comments; `base` is the depth of the thread's root where one thread is shown.
    pub(crate) fn new(comments: Vec<Comment>, next: Option<String>, is_start: bool, base: Option<u32>) -> Self {
        let above = base.map_or(0, |base| base.saturating_sub(1));
        let mut items: Vec<ShownComment> = Vec::with_capacity(comments.len());
        for comment in comments {
            let level = comment.depth.saturating_sub(above).max(1);
            if level > LEVELS_SHOWN
                && let Some(last) = items.last_mut()
            {
                last.continues = true;
                continue;
            }
            items.push(ShownComment { comment, level: level.min(LEVELS_SHOWN), continues: false });
        }
        Self { items, next, is_start, is_thread: base.is_some() }
    }
}

/// What comments sort by, as text that a script can compare.
pub(crate) fn sort_key(comment: &Comment) -> String {
    match &comment.path {
        Some(path) => path.to_string(),
        None => {
            let parent = comment.parent_id.unwrap_or(comment.comment_id).to_string();
            format!("{parent:0>19}.{:0>19}", comment.comment_id.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_board::{ArticleId, CommentId};
    use madang_kernel::{Id, Timestamp};

    use super::*;

    fn at_depth(id: i64, depth: u32) -> Comment {
        Comment {
            comment_id: CommentId::from_raw(id),
            article_id: ArticleId::from_raw(1),
            parent_id: None,
            depth,
            path: None,
            content: Some("text".into()),
            deleted: false,
            writer: None,
            created_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn what_lies_deeper_than_five_levels_is_behind_a_link() {
        let comments = (1..=7).map(|depth| at_depth(i64::from(depth), depth)).chain([at_depth(8, 1)]).collect();
        let listed = CommentList::new(comments, None, true, None);
        let shown: Vec<_> = listed.items.iter().map(|shown| (shown.level, shown.continues)).collect();
        assert_eq!(shown, [(1, false), (2, false), (3, false), (4, false), (5, true), (1, false)]);
    }

    #[test]
    fn a_thread_starts_at_the_first_level() {
        let comments = (5..=9).map(|depth| at_depth(i64::from(depth), depth)).collect();
        let listed = CommentList::new(comments, None, false, Some(5));
        assert_eq!(listed.items.iter().map(|shown| shown.level).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn replies_sort_behind_their_root_and_before_the_next() {
        let reply = Comment { parent_id: Some(CommentId::from_raw(7)), ..at_depth(30, 2) };
        let (root, next) = (at_depth(7, 1), at_depth(10, 1));
        assert!(sort_key(&root) < sort_key(&reply) && sort_key(&reply) < sort_key(&next));
    }
}
