//! What the page of searches says.

use crate::preferences::Lang;

texts! {
    /// What the page of searches says.
    SearchTexts {
    search: "Search", "검색";
    what: "Search articles and comments", "글과 댓글 검색";
    hint: "Type words to find articles and comments. Words in \"quotes\" must follow one another.",
        "찾을 말을 입력하면 글과 댓글에서 찾습니다. \"따옴표\" 안의 말은 이어진 그대로 찾습니다.";
    too_long: "A search can have at most 100 characters. Use fewer words.", "검색어는 100자까지 쓸 수 있습니다. 검색어를 줄여 주세요.";
    not_configured: "This site has no search engine, so nothing can be searched here.",
        "이 사이트에는 검색 엔진이 설정되어 있지 않아 검색할 수 없습니다.";
    away: "The search did not answer in time. Try again in a moment, or use rarer words.",
        "검색이 제때 응답하지 않았습니다. 잠시 뒤에 다시 시도하거나 더 드문 말로 찾아 보세요.";
    partial: "The search index is being built. Some articles and comments may be missing here.",
        "검색 색인을 만드는 중입니다. 일부 글과 댓글이 빠져 있을 수 있습니다.";
    no_more: "There is nothing further.", "더 찾은 것이 없습니다.";
    try_other_words: "Try other or fewer words, or take filters away.", "다른 말이나 더 적은 말로 찾거나, 조건을 줄여 보세요.";
    more: "More", "더 보기";
    kind: "In", "대상";
    kind_all: "Articles and comments", "글과 댓글";
    kind_articles: "Articles", "글";
    kind_comments: "Comments", "댓글";
    board: "Board", "게시판";
    every_board: "Every board", "모든 게시판";
    period: "Written", "기간";
    any_time: "Any time", "전체 기간";
    past_day: "In the past day", "지난 하루";
    past_week: "In the past week", "지난 한 주";
    past_month: "In the past month", "지난 한 달";
    past_year: "In the past year", "지난 한 해";
    order: "Order", "정렬";
    by_relevance: "Best match", "정확도순";
    by_newest: "Newest first", "최신순";
    only_by: "Only by", "쓴 사람:";
    in_comment: "in a comment", "댓글";
    yours: "yours", "내 글";
    their_posts: "Search their posts", "이 회원의 글 검색";
}}

/// What is said when there is nothing.
pub(crate) fn nothing_found(lang: Lang, asked: &str) -> String {
    match lang {
        Lang::En => format!("Nothing was found for “{asked}”."),
        Lang::Ko => format!("“{asked}”에 대한 검색 결과가 없습니다."),
    }
}
