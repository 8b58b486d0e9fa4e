//! Comments: their list below an article, writing one, answering one, correcting one, deleting one.

mod change;
mod comment_list;
mod edit;
mod view;

use madang_article::BoardWithCount;
use madang_board::rules::{About, Action};
use madang_kernel::PageSize;

pub(crate) use change::{comment, delete, delete_form, reply_form, submit};
pub(crate) use comment_list::{BYTES_MAX, CommentList};
pub(crate) use edit::{edit_form, submit_edit};
pub(crate) use view::list;

use crate::form::Problems;
use crate::visit::Visit;

/// Comments shown at first, and added with each step.
pub(crate) const STEP: PageSize = PageSize::DEFAULT;

/// Where comments are written: a board, and an article on it that may be locked.
#[derive(Clone, Copy)]
pub(crate) struct Discussed<'a> {
    /// The board.
    pub(crate) board: &'a BoardWithCount,
    /// Whether the article takes no new comments.
    pub(crate) locked: bool,
}

impl Discussed<'_> {
    /// Whether the reader may write a comment here.
    pub(crate) fn takes_comments(&self, visit: &Visit) -> bool {
        let exempt = || visit.may(Action::CommentOnLocked, About::on(self.board.board.board_id, false));
        !self.board.archived && visit.writes() && (!self.locked || exempt())
    }
}

/// A comment form as it came back.
pub(crate) struct CommentForm {
    /// What was typed.
    pub(crate) content: String,
    /// The comment it answers, as it was sent.
    pub(crate) parent: String,
    /// What is wrong.
    pub(crate) problems: Problems,
}
