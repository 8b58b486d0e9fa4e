//! A list of comments as a page shows it: no deeper than five levels, the rest behind "continue this thread", and no longer
//! than its budget, the rest behind "more comments".

use madang_comment::{Comment, CommentCursor};

/// Levels shown below one another; what lies deeper has a page of its own.
pub(crate) const LEVELS_SHOWN: u32 = 5;
/// HTML of all comments on one page. Thirty as long as they may be, of plain text, fit.
pub(crate) const BYTES_MAX: usize = 320 * 1_024;

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
    /// Levels the comments; `base` is the depth of the thread's root where one thread is shown. The list ends where its
    /// budget does, and goes on from there.
    pub(crate) fn new(comments: Vec<Comment>, next: Option<String>, is_start: bool, base: Option<u32>) -> Self {
        let above = base.map_or(0, |base| base.saturating_sub(1));
        let (mut comments, mut next) = (comments, next);
        if let Some(fitting) = fitting(&comments) {
            next = comments.get(fitting - 1).map(|last| CommentCursor::after(last).to_string());
            comments.truncate(fitting);
        }
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

/// How many of the first comments fit the budget; `None` when all do. The first is always shown.
fn fitting(comments: &[Comment]) -> Option<usize> {
    let mut bytes = 0;
    let past = comments.iter().position(|comment| {
        bytes += comment.content_html.as_ref().map_or(0, String::len);
        bytes > BYTES_MAX
    });
    past.map(|past| past.max(1)).filter(|fitting| *fitting < comments.len())
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
            content_html: Some("<p>text</p>\n".into()),
            deleted: false,
            writer: None,
            created_at: Timestamp::from_millis(0),
            modified_at: Timestamp::from_millis(0),
            version: 1,
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
    fn a_list_ends_with_its_budget_and_goes_on_behind_its_last_comment() {
        let of_bytes = |id, bytes| Comment { content_html: Some("x".repeat(bytes)), ..at_depth(id, 1) };
        let third = BYTES_MAX / 3;
        let comments: Vec<_> = (1..=5).map(|id| of_bytes(id, third)).collect();
        let listed = CommentList::new(comments.clone(), Some("end".into()), true, None);
        assert_eq!((listed.items.len(), listed.next), (3, Some(CommentCursor::after(&comments[2]).to_string())));
        let all = CommentList::new(comments[..3].to_vec(), Some("end".into()), true, None);
        assert_eq!((all.items.len(), all.next.as_deref()), (3, Some("end")));
        let huge = CommentList::new(vec![of_bytes(1, BYTES_MAX + 1), of_bytes(2, 1)], None, true, None);
        assert_eq!((huge.items.len(), huge.next.is_some()), (1, true), "one is always shown");
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
