//! An article as seven fields of a hash, and back.

use std::borrow::Cow;
use std::sync::Arc;

use madang_article_read::{ArticleGroup, ArticleHead, ArticleText, Count, Discussion, Entry};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_engine_redis::{Command, Failure, Value, reply};
use madang_event::Writer;
use madang_kernel::{Id, Timestamp};
use serde::{Deserialize, Serialize};

/// Stands before the count of comments where no new ones are taken. Scripts carry the field as it is: only its version is
/// compared.
const LOCKED: char = '!';
/// Stands between the count of comments and the newest of them, as JSON.
const LAST: char = ';';

/// A text as it is stored. Names are short because every article carries them; texts with escapes cannot be borrowed.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    a: i64,
    b: i64,
    #[serde(borrow)]
    t: Cow<'a, str>,
    w: i64,
    #[serde(borrow)]
    n: Cow<'a, str>,
    c: i64,
    m: i64,
    #[serde(borrow)]
    s: Cow<'a, str>,
    #[serde(borrow)]
    h: Cow<'a, str>,
}

/// Adds the fields of an entry to a command; groups that are unknown are empty.
pub(super) fn push(command: &mut Command, entry: &Entry) -> Result<(), Failure> {
    match &entry.article {
        None => ["", "", ""].iter().for_each(|empty| command.push(empty)),
        Some(ArticleGroup::Deleted { version }) => {
            command.push("1");
            command.push(version);
            command.push("");
        }
        Some(ArticleGroup::Live(text)) => {
            command.push("0");
            command.push(text.head.version);
            command.push(written(text)?);
        }
    }
    match &entry.comments {
        None => ["", ""].iter().for_each(|empty| command.push(empty)),
        Some(Discussion { count, locked, last, version }) => {
            let mut field = if *locked { format!("{LOCKED}{count}") } else { count.to_string() };
            if let Some(last) = last {
                field.push(LAST);
                field += &serde_json::to_string(last).map_err(|error| Failure::Defect(error.to_string()))?;
            }
            command.push(field);
            command.push(version);
        }
    }
    match entry.likes {
        None => ["", ""].iter().for_each(|empty| command.push(empty)),
        Some(Count { count, version }) => {
            command.push(count);
            command.push(version);
        }
    }
    Ok(())
}

/// About how many bytes an entry takes in a command.
pub(super) fn weight_bytes(entry: &Entry) -> usize {
    64 + entry.live().map_or(0, |text| text.weight_bytes())
}

/// Reads the fields; `loaded` is the text where the server left it out because it is the same.
pub(super) fn entry(fields: &[Value], loaded: Option<&Arc<ArticleText>>) -> Result<Entry, Failure> {
    let [deleted, version, text, comments, comment_version, likes, like_version] = fields else {
        return Err(Failure::reply("an article with other fields"));
    };
    let article = match (reply::text(deleted)?, reply::number(version)?, text) {
        (None, _, _) => None,
        (Some("1"), Some(version), _) => Some(ArticleGroup::Deleted { version }),
        (Some(_), Some(version), Value::BulkString(bytes)) => Some(ArticleGroup::Live(Arc::new(read(bytes, version)?))),
        (Some(_), Some(_), Value::Nil) => {
            Some(ArticleGroup::Live(Arc::clone(loaded.ok_or_else(|| Failure::reply("an article without its text"))?)))
        }
        _ => return Err(Failure::reply("an article without its version")),
    };
    let count = |count, version| -> Result<Option<Count>, Failure> {
        let (count, version) = (reply::number(count)?, reply::number(version)?);
        Ok(count.zip(version).map(|(count, version)| Count { count, version }))
    };
    let discussion = match (reply::text(comments)?, reply::number(comment_version)?) {
        (Some(written), Some(version)) => {
            let (locked, count) = match written.strip_prefix(LOCKED) {
                Some(count) => (true, count),
                None => (false, written),
            };
            let (count, last) = match count.split_once(LAST) {
                None => (count, None),
                Some((count, last)) => {
                    let last = serde_json::from_str(last);
                    (count, Some(last.map_err(|error| Failure::Defect(format!("a newest comment: {error}")))?))
                }
            };
            let count = count.parse().map_err(|_| Failure::reply("a count of comments that is no number"))?;
            Some(Discussion { count, locked, last, version })
        }
        _ => None,
    };
    Ok(Entry { article, comments: discussion, likes: count(likes, like_version)? })
}

fn written(text: &ArticleText) -> Result<Vec<u8>, Failure> {
    let ArticleText { head, content, content_html } = text;
    let stored = Stored {
        a: head.article_id.raw(),
        b: head.board_id.raw(),
        t: head.title.as_str().into(),
        w: head.writer.member_id.raw(),
        n: head.writer.name.as_str().into(),
        c: head.created_at.as_millis(),
        m: head.modified_at.as_millis(),
        s: content.as_str().into(),
        h: content_html.as_str().into(),
    };
    serde_json::to_vec(&stored).map_err(|error| Failure::Defect(error.to_string()))
}

fn read(bytes: &[u8], version: u64) -> Result<ArticleText, Failure> {
    let Stored { a, b, t, w, n, c, m, s, h } =
        serde_json::from_slice(bytes).map_err(|error| Failure::Defect(format!("a stored text: {error}")))?;
    let head = ArticleHead {
        article_id: ArticleId::from_raw(a),
        board_id: BoardId::from_raw(b),
        title: t.into_owned(),
        writer: Writer { member_id: MemberId::from_raw(w), name: n.into_owned() },
        created_at: Timestamp::from_millis(c),
        modified_at: Timestamp::from_millis(m),
        version,
    };
    Ok(ArticleText { head, content: s.into_owned(), content_html: h.into_owned() })
}
