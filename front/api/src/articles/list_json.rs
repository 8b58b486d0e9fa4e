//! Lists of articles as bytes. What a list shows of an article is rendered once per version and kept beside its text; only
//! the counts are written for each reader.

use madang_article_read::{ArticleHead, ReadSummary};
use madang_event::Writer;
use madang_kernel::{ArticleId, BoardId, Timestamp};
use serde::Serialize;

/// About how long an item is.
const ITEM_BYTES_HINT: usize = 384;
/// About how long what stands around the items is.
const AROUND_BYTES_HINT: usize = 128;

/// Everything about an item but its counts.
#[derive(Serialize)]
struct HeadBody<'a> {
    article_id: ArticleId,
    board_id: BoardId,
    title: &'a str,
    writer: &'a Writer,
    created_at: Timestamp,
    modified_at: Timestamp,
    version: u64,
}

/// `{"items":[…]`, still open: what a list says of itself comes behind it, see [`close`].
pub(super) fn open(items: &[ReadSummary]) -> Vec<u8> {
    let mut body = Vec::with_capacity(AROUND_BYTES_HINT + items.len() * ITEM_BYTES_HINT);
    body.extend_from_slice(b"{\"items\":[");
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            body.push(b',');
        }
        push(&mut body, item);
    }
    body.push(b']');
    body
}

/// Adds the fields of a struct to an object that is still open, and closes it.
pub(super) fn close(mut body: Vec<u8>, rest: &impl Serialize) -> Vec<u8> {
    let rest = encoded(rest);
    body.push(b',');
    body.extend_from_slice(&rest[1..]);
    body
}

fn push(body: &mut Vec<u8>, item: &ReadSummary) {
    match item.memo() {
        Some(memo) => body.extend_from_slice(memo.get_or_make(|| head(item.head()))),
        None => body.extend_from_slice(&head(item.head())),
    }
    let mut digits = itoa::Buffer::new();
    for (name, count) in [
        (&b",\"comment_count\":"[..], item.comment_count),
        (b",\"like_count\":", item.like_count),
        (b",\"view_count\":", item.view_count),
    ] {
        body.extend_from_slice(name);
        body.extend_from_slice(digits.format(count).as_bytes());
    }
    body.push(b'}');
}

/// The head as an object without its closing brace.
fn head(head: &ArticleHead) -> Vec<u8> {
    let ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version } = head;
    let mut object = encoded(&HeadBody {
        article_id: *article_id,
        board_id: *board_id,
        title,
        writer,
        created_at: *created_at,
        modified_at: *modified_at,
        version: *version,
    });
    object.pop();
    object
}

/// Plain structs of text and numbers, which are encoded without fail and never empty.
fn encoded(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).unwrap_or_else(|_| b"{}".to_vec())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use madang_article_read::{ArticleText, Memo, ReadArticle};
    use madang_kernel::{Id, MemberId};
    use serde_json::{Value, json};

    use super::*;

    fn item(raw: i64, title: &str) -> ReadSummary {
        let head = ArticleHead {
            article_id: ArticleId::from_raw(raw),
            board_id: BoardId::from_raw(7),
            title: title.to_owned(),
            writer: Writer { member_id: MemberId::from_raw(3), name: "마당".to_owned() },
            created_at: Timestamp::from_millis(1_704_067_200_000),
            modified_at: Timestamp::from_millis(1_704_067_200_001),
            version: 2,
        };
        let text = ArticleText { head, content: String::new(), content_html: String::new(), memo: Memo::default() };
        ReadArticle { text: Arc::new(text), comment_count: 4, like_count: 5, view_count: 6 }.into()
    }

    #[test]
    fn a_list_is_what_serde_would_have_written() {
        let items = [item(1, "quotes \" and \\ and \u{1F600}"), item(2, "}],")];
        for _ in 0..2 {
            let body = close(open(&items), &json!({"page": 1, "known_count": 2}));
            let item = |id: &str, title: &str| {
                json!({
                    "article_id": id, "board_id": "7", "title": title, "writer": {"member_id": "3", "name": "마당"},
                    "created_at": "2024-01-01T00:00:00.000Z", "modified_at": "2024-01-01T00:00:00.001Z",
                    "version": 2, "comment_count": 4, "like_count": 5, "view_count": 6,
                })
            };
            let expected = json!({
                "items": [item("1", "quotes \" and \\ and \u{1F600}"), item("2", "}],")], "page": 1, "known_count": 2,
            });
            assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), expected, "the second time from the memo");
        }
    }

    #[test]
    fn an_empty_list_is_a_list() {
        let body = close(open(&[]), &json!({"next": null}));
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), json!({"items": [], "next": null}));
    }
}
