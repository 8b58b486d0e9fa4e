//! Comments: their list below an article, writing one, answering one, correcting one, deleting one.

mod change;
mod comment_list;
mod edit;
mod view;

use madang_kernel::PageSize;

pub(crate) use change::{comment, delete, delete_form, reply_form, submit};
pub(crate) use comment_list::{BYTES_MAX, CommentList};
pub(crate) use edit::{edit_form, submit_edit};
pub(crate) use view::list;

use crate::form::Problems;

/// Comments shown at first, and added with each step.
pub(crate) const STEP: PageSize = PageSize::DEFAULT;

/// A comment form as it came back.
pub(crate) struct CommentForm {
    /// What was typed.
    pub(crate) content: String,
    /// The comment it answers, as it was sent.
    pub(crate) parent: String,
    /// What is wrong.
    pub(crate) problems: Problems,
}
