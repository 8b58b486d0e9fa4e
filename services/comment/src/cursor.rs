//! Where a cursor list goes on: the place of the last comment shown, which stays a place when that comment is deleted.

use std::fmt;

use madang_board::{CommentId, CommentMode};

use crate::{Comment, CommentPath};

/// Text that is no cursor of this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("This is not a cursor of this list: use the value of `next` from the answer before.")]
pub struct CursorParseError;

/// The last comment that was shown. Opaque to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentCursor {
    /// Two levels sort by (parent, id); a root is its own parent.
    TwoLevel {
        /// The root of the group.
        parent_id: CommentId,
        /// The comment.
        comment_id: CommentId,
    },
    /// A tree sorts by path.
    Tree {
        /// The path of the comment.
        path: CommentPath,
        /// The comment: when it is deleted, a new one may get its path, and has not been shown.
        comment_id: CommentId,
    },
}

impl CommentCursor {
    /// The cursor after a comment.
    pub fn after(comment: &Comment) -> Self {
        let comment_id = comment.comment_id;
        match &comment.path {
            Some(path) => Self::Tree { path: path.clone(), comment_id },
            None => Self::TwoLevel { parent_id: comment.parent_id.unwrap_or(comment_id), comment_id },
        }
    }

    /// Reads a cursor of a list in this mode.
    pub fn parse(mode: CommentMode, text: &str) -> Result<Self, CursorParseError> {
        let (place, comment) = text.split_once('.').ok_or(CursorParseError)?;
        let comment_id = comment.parse().map_err(|_| CursorParseError)?;
        match mode {
            CommentMode::TwoLevel => {
                let parent_id = place.parse().map_err(|_| CursorParseError)?;
                Ok(Self::TwoLevel { parent_id, comment_id })
            }
            CommentMode::Tree => {
                let path = place.parse().map_err(|_| CursorParseError)?;
                Ok(Self::Tree { path, comment_id })
            }
        }
    }
}

impl fmt::Display for CommentCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoLevel { parent_id, comment_id } => write!(f, "{parent_id}.{comment_id}"),
            Self::Tree { path, comment_id } => write!(f, "{path}.{comment_id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(parent in 1i64.., comment in 1i64.., path in "([0-9A-Za-z]{5}){1,50}") {
            let (parent_id, comment_id) = (CommentId::from_raw(parent), CommentId::from_raw(comment));
            let cursor = CommentCursor::TwoLevel { parent_id, comment_id };
            prop_assert_eq!(CommentCursor::parse(CommentMode::TwoLevel, &cursor.to_string()), Ok(cursor));
            let cursor = CommentCursor::Tree { path: path.parse().unwrap(), comment_id };
            prop_assert_eq!(CommentCursor::parse(CommentMode::Tree, &cursor.to_string()), Ok(cursor));
        }

        #[test]
        fn any_text_is_a_cursor_or_refused(text in prop_oneof![".{0,40}", "[0-9A-Za-z]{1,20}\\.[0-9]{1,20}"]) {
            for mode in [CommentMode::TwoLevel, CommentMode::Tree] {
                if let Ok(cursor) = CommentCursor::parse(mode, &text) {
                    prop_assert_eq!(cursor.to_string(), text.as_str(), "one spelling a place");
                    prop_assert_eq!(CommentCursor::parse(mode, &cursor.to_string()), Ok(cursor));
                }
            }
        }
    }

    #[test]
    fn a_cursor_of_the_other_mode_is_refused() {
        assert!(CommentCursor::parse(CommentMode::TwoLevel, "0000A.5").is_err());
        assert!(CommentCursor::parse(CommentMode::Tree, "123456.5").is_err());
        for text in ["", ".", "5", "5.", ".5", "5.0", "5.-1", "5.5.5"] {
            assert!(CommentCursor::parse(CommentMode::TwoLevel, text).is_err(), "{text:?}");
        }
    }
}
