//! An entry as the model caches it: one run of bytes, because a model is as good as the number of articles that fit into its
//! budget. Numbers take as many bytes as they need, and the texts are compressed together: the HTML of an article repeats
//! nearly all of what was written.

use std::sync::Arc;

use madang_article_read::{ArticleGroup, ArticleHead, ArticleText, Count, Discussion, Entry, LastComment};
use madang_board::{ArticleId, BoardId, CommentId, MemberId};
use madang_event::Writer;
use madang_kernel::{Id, Timestamp};

use crate::bytes::{Reader, Writer as Bytes};
use crate::part::Weigh;

/// Texts that are shorter together gain nothing by being compressed.
const COMPRESS_FROM_BYTES: usize = 64;
/// No text becomes shorter than by this; what claims more is none of ours.
const COMPRESSED_FACTOR_MAX: usize = 255;

/// What the first byte says.
const LIVE: u8 = 1;
const DELETED: u8 = 2;
const HAS_COMMENTS: u8 = 4;
const HAS_LIKES: u8 = 8;
const COMPRESSED: u8 = 16;
const LOCKED: u8 = 32;
const HAS_LAST: u8 = 64;

/// An entry in one piece; clones share it.
///
/// The front holds what changes often and what is compared: the counts with their versions, then version and board of the
/// article. The texts follow, and are copied as they are when a count changes.
#[derive(Clone)]
pub(crate) struct Packed(Arc<[u8]>);

/// The article in an entry, as far as the front tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArticleVersion {
    Unknown,
    Live { version: u64, board_id: BoardId },
    Deleted { version: u64 },
}

/// The front, and where it ends.
struct Front {
    flags: u8,
    comments: Option<Discussion>,
    likes: Option<Count>,
    /// Where the counts end, and what is told of the article begins.
    article_at: usize,
}

impl Packed {
    /// Puts an entry into one piece.
    pub(crate) fn of(entry: &Entry) -> Self {
        let mut article = Bytes::default();
        let flags = match &entry.article {
            None => 0,
            Some(ArticleGroup::Deleted { version }) => {
                article.number(*version);
                DELETED
            }
            Some(ArticleGroup::Live(text)) => LIVE | pack_text(&mut article, text),
        };
        Self::join(flags, entry.comments.as_ref(), entry.likes, article.as_slice())
    }

    /// The entry again. `None` cannot be, because the bytes are our own.
    pub(crate) fn entry(&self, article_id: ArticleId) -> Option<Entry> {
        let front = self.front()?;
        let mut article = Reader::new(self.0.get(front.article_at..)?);
        let article = match front.flags & (LIVE | DELETED) {
            LIVE => Some(ArticleGroup::Live(Arc::new(unpack_text(&mut article, article_id, front.flags)?))),
            DELETED => Some(ArticleGroup::Deleted { version: article.number()? }),
            _ => None,
        };
        Some(Entry { article, comments: front.comments, likes: front.likes })
    }

    /// What the front tells of the article.
    pub(crate) fn article_version(&self) -> ArticleVersion {
        let read = || {
            let front = self.front()?;
            let mut article = Reader::new(self.0.get(front.article_at..)?);
            Some(match front.flags & (LIVE | DELETED) {
                LIVE => {
                    let version = article.number()?;
                    ArticleVersion::Live { version, board_id: BoardId::from_raw(article.signed()?) }
                }
                DELETED => ArticleVersion::Deleted { version: article.number()? },
                _ => ArticleVersion::Unknown,
            })
        };
        read().unwrap_or(ArticleVersion::Unknown)
    }

    /// Takes the newer of each group, as [`Entry::merge`] does. Only a new text costs the packing of one.
    pub(crate) fn merge(&mut self, article_id: ArticleId, change: &Entry) {
        let Some(front) = self.front() else { return };
        let is_text_settled = match (&change.article, self.article_version()) {
            (None, _) => true,
            (
                Some(ArticleGroup::Live(text)),
                ArticleVersion::Live { version, .. } | ArticleVersion::Deleted { version },
            ) => text.head.version <= version,
            (Some(_), _) => false,
        };
        if !is_text_settled && let Some(mut entry) = self.entry(article_id) {
            entry.merge(change.clone());
            *self = Self::of(&entry);
            return;
        }
        let Front { flags, comments, likes, article_at } = front;
        let mut counts = Entry { article: None, comments: comments.clone(), likes };
        counts.merge(Entry { article: None, comments: change.comments.clone(), likes: change.likes });
        if (&counts.comments, counts.likes) != (&comments, likes) {
            let article = self.0.get(article_at..).unwrap_or_default();
            *self = Self::join(flags, counts.comments.as_ref(), counts.likes, article);
        }
    }

    fn join(flags: u8, comments: Option<&Discussion>, likes: Option<Count>, article: &[u8]) -> Self {
        let of_article = flags & (LIVE | DELETED | COMPRESSED);
        let last = comments.and_then(|comments| comments.last.as_ref());
        let has_comments = match comments {
            Some(Discussion { locked: true, .. }) => HAS_COMMENTS | LOCKED,
            Some(_) => HAS_COMMENTS,
            None => 0,
        } | if last.is_some() { HAS_LAST } else { 0 };
        let has_likes = if likes.is_some() { HAS_LIKES } else { 0 };
        let mut bytes = Bytes::default();
        bytes.byte(of_article | has_comments | has_likes);
        let comments = comments.map(|&Discussion { count, version, .. }| Count { count, version });
        for Count { count, version } in [comments, likes].into_iter().flatten() {
            bytes.number(count);
            bytes.number(version);
        }
        if let Some(LastComment { comment_id, writer, created_at }) = last {
            bytes.signed(comment_id.raw());
            bytes.signed(created_at.as_millis());
            bytes.signed(writer.member_id.raw());
            bytes.number(writer.name.len() as u64);
            bytes.bytes(writer.name.as_bytes());
        }
        bytes.bytes(article);
        Self(bytes.as_slice().into())
    }

    fn front(&self) -> Option<Front> {
        let mut reader = Reader::new(&self.0);
        let flags = reader.byte()?;
        let mut count = |has: u8| match flags & has {
            0 => Some(None),
            _ => Some(Some(Count { count: reader.number()?, version: reader.number()? })),
        };
        let (comments, likes) = (count(HAS_COMMENTS)?, count(HAS_LIKES)?);
        let locked = flags & LOCKED != 0;
        let last = match flags & HAS_LAST {
            0 => None,
            _ => Some(last(&mut reader)?),
        };
        let comments = comments.map(|Count { count, version }| Discussion { count, locked, last, version });
        Some(Front { flags, comments, likes, article_at: reader.at() })
    }
}

fn last(reader: &mut Reader<'_>) -> Option<LastComment> {
    let comment_id = CommentId::from_raw(reader.signed()?);
    let created_at = Timestamp::from_millis(reader.signed()?);
    let member_id = MemberId::from_raw(reader.signed()?);
    let length = usize::try_from(reader.number()?).ok()?;
    let name = std::str::from_utf8(reader.bytes(length)?).ok()?.to_owned();
    Some(LastComment { comment_id, writer: Writer { member_id, name }, created_at })
}

/// Writes what is told of an article that exists; returns how its texts are written.
fn pack_text(bytes: &mut Bytes, text: &ArticleText) -> u8 {
    let ArticleText { head, content, content_html } = text;
    let ArticleHead { article_id: _, board_id, title, writer, created_at, modified_at, version } = head;
    bytes.number(*version);
    bytes.signed(board_id.raw());
    bytes.signed(writer.member_id.raw());
    bytes.signed(created_at.as_millis());
    bytes.signed(modified_at.as_millis().wrapping_sub(created_at.as_millis()));
    let parts = [title, &writer.name, content, content_html];
    parts.iter().for_each(|part| bytes.number(part.len() as u64));
    let texts = parts.map(String::as_str).concat();
    if texts.len() >= COMPRESS_FROM_BYTES {
        let compressed = lz4_flex::block::compress(texts.as_bytes());
        if compressed.len() < texts.len() {
            bytes.bytes(&compressed);
            return COMPRESSED;
        }
    }
    bytes.bytes(texts.as_bytes());
    0
}

fn unpack_text(reader: &mut Reader<'_>, article_id: ArticleId, flags: u8) -> Option<ArticleText> {
    let version = reader.number()?;
    let board_id = BoardId::from_raw(reader.signed()?);
    let member_id = MemberId::from_raw(reader.signed()?);
    let created_at = reader.signed()?;
    let modified_at = Timestamp::from_millis(created_at.wrapping_add(reader.signed()?));
    let mut lengths = [0; 4];
    for length in &mut lengths {
        *length = usize::try_from(reader.number()?).ok()?;
    }
    let unpacked;
    let mut texts = match flags & COMPRESSED {
        0 => reader.rest(),
        _ => {
            let total = lengths.iter().try_fold(0_usize, |total, length| total.checked_add(*length))?;
            if total / COMPRESSED_FACTOR_MAX > reader.rest().len() {
                return None;
            }
            unpacked = lz4_flex::block::decompress(reader.rest(), total).ok()?;
            unpacked.as_slice()
        }
    };
    let mut next = |length: usize| {
        let (text, rest) = texts.split_at_checked(length)?;
        texts = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    };
    let [title, name, content, content_html] = lengths;
    let (title, name) = (next(title)?, next(name)?);
    let (content, content_html) = (next(content)?, next(content_html)?);
    let writer = Writer { member_id, name };
    let created_at = Timestamp::from_millis(created_at);
    let head = ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version };
    Some(ArticleText { head, content, content_html })
}

impl Weigh for Packed {
    /// The bytes with their reference counts, in the block that an allocator has for so many: blocks come in four sizes
    /// between one power of two and the next.
    fn weight_bytes(&self) -> usize {
        const COUNTS_BYTES: usize = 2 * size_of::<usize>();
        let bytes = COUNTS_BYTES + self.0.len();
        bytes.next_multiple_of((bytes.next_power_of_two() / 8).max(COUNTS_BYTES))
    }
}

#[cfg(test)]
mod tests;
