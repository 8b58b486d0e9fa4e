//! A packed entry is the entry: it comes back whole, and merges as the entry itself would.

use proptest::option;
use proptest::prelude::*;

use super::*;

fn article() -> ArticleId {
    ArticleId::from_raw(77 << 22)
}

fn counts() -> impl Strategy<Value = Option<Count>> {
    option::of((any::<u64>(), 0..4_u64).prop_map(|(count, version)| Count { count, version }))
}

fn discussions() -> impl Strategy<Value = Option<Discussion>> {
    let parts = (any::<u64>(), any::<bool>(), 0..4_u64);
    let last = option::of((any::<i64>(), any::<i64>(), any::<i64>(), ".{0,40}").prop_map(|(id, at, member, name)| {
        LastComment {
            comment_id: CommentId::from_raw(id),
            writer: Writer { member_id: MemberId::from_raw(member), name },
            created_at: Timestamp::from_millis(at),
        }
    }));
    option::of((parts, last).prop_map(|((count, locked, version), last)| Discussion { count, locked, last, version }))
}

/// Texts of every kind: short, long, repeating, of four-byte characters, and with an HTML that repeats them.
fn texts() -> impl Strategy<Value = ArticleText> {
    let numbers = (any::<i64>(), any::<i64>(), any::<i64>(), any::<i64>(), 0..4_u64);
    let words = (".{0,60}", ".{0,20}", prop_oneof![".{0,400}", "(가나다|😀|<p>| ){0,200}"]);
    (numbers, words).prop_map(|((board, member, created, modified, version), (title, name, content))| {
        let head = ArticleHead {
            article_id: article(),
            board_id: BoardId::from_raw(board),
            title,
            writer: Writer { member_id: MemberId::from_raw(member), name },
            created_at: Timestamp::from_millis(created),
            modified_at: Timestamp::from_millis(modified),
            version,
        };
        let content_html = format!("<p>{content}</p>");
        ArticleText { head, content, content_html }
    })
}

fn articles() -> impl Strategy<Value = Option<ArticleGroup>> {
    option::of(prop_oneof![
        3 => texts().prop_map(|text| ArticleGroup::Live(Arc::new(text))),
        1 => (0..4_u64).prop_map(|version| ArticleGroup::Deleted { version }),
    ])
}

fn entries() -> impl Strategy<Value = Entry> {
    (articles(), discussions(), counts()).prop_map(|(article, comments, likes)| Entry { article, comments, likes })
}

proptest! {
    #[test]
    fn an_entry_comes_back_whole(entry in entries()) {
        prop_assert_eq!(Packed::of(&entry).entry(article()), Some(entry));
    }

    #[test]
    fn merging_packed_is_merging(mut entry in entries(), change in entries()) {
        let mut packed = Packed::of(&entry);
        packed.merge(article(), &change);
        entry.merge(change);
        prop_assert_eq!(packed.entry(article()), Some(entry));
    }

    #[test]
    fn the_front_tells_what_the_article_is(entry in entries()) {
        let expected = match &entry.article {
            None => ArticleVersion::Unknown,
            Some(ArticleGroup::Deleted { version }) => ArticleVersion::Deleted { version: *version },
            Some(ArticleGroup::Live(text)) => {
                ArticleVersion::Live { version: text.head.version, board_id: text.head.board_id }
            }
        };
        prop_assert_eq!(Packed::of(&entry).article_version(), expected);
    }

    #[test]
    fn damaged_bytes_are_no_entry_and_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let packed = Packed(bytes.into());
        let _ = (packed.entry(article()), packed.article_version(), packed.weight_bytes());
    }
}

#[test]
fn what_the_html_repeats_takes_next_to_nothing() {
    let content: String = (0..100).map(|number| format!("Sentence {} of many. ", number * 7_919 % 1_000)).collect();
    let text = |content_html: String| {
        let writer = Writer { member_id: MemberId::from_raw(3), name: "마당".into() };
        let moment = Timestamp::from_millis(1_750_000_000_000);
        let head = ArticleHead {
            article_id: article(),
            board_id: BoardId::from_raw(7),
            title: "A title".into(),
            writer,
            created_at: moment,
            modified_at: moment,
            version: 1,
        };
        let text = ArticleText { head, content: content.clone(), content_html };
        Packed::of(&Entry { article: Some(ArticleGroup::Live(Arc::new(text))), comments: None, likes: None }).0.len()
    };
    let (without, with) = (text(String::new()), text(format!("<p>{content}</p>\n")));
    assert!(with < without + 50, "{without} bytes without the HTML, {with} with it");
}
