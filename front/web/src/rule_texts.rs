//! What the rules of the services say, in the reader's language. The services speak English, and what they say is known word
//! for word.

use crate::preferences::Lang;

/// What is wrong with a field.
pub(crate) fn rule(lang: Lang, message: &str) -> String {
    if lang == Lang::En {
        return match message {
            // These are not about a field that people see.
            "is a reply, and on this board replies cannot be replied to" => {
                "Replies cannot be replied to on this board."
            }
            "has as many replies as one comment can have" => {
                "This comment has as many replies as one comment can have."
            }
            "is not a comment on this article, or has been deleted" => "The comment you reply to has been deleted.",
            message if message.starts_with("is at level ") => {
                "Replies cannot go any deeper here. Reply to a comment above."
            }
            message => message,
        }
        .to_owned();
    }
    let number = |before: &str, after: &str| message.strip_prefix(before)?.strip_suffix(after).map(str::to_owned);
    match message {
        "is not your current password" => "현재 비밀번호가 아닙니다".to_owned(),
        "must not be blank" => "비워 둘 수 없습니다".to_owned(),
        "must be one line without control characters" => "제어 문자 없이 한 줄이어야 합니다".to_owned(),
        "must not contain NUL characters" => "NUL 문자는 쓸 수 없습니다".to_owned(),
        "is one of the most common passwords" => "너무 흔한 비밀번호입니다. 다른 비밀번호를 써 주세요".to_owned(),
        "must not be just a few characters in order or repeated" => {
            "몇 글자를 되풀이하거나 차례로 늘어놓은 비밀번호는 쓸 수 없습니다".to_owned()
        }
        "must not be just your name or the name of the site" => {
            "이름이나 사이트 이름으로 만든 비밀번호는 쓸 수 없습니다".to_owned()
        }
        "must not contain invisible characters" => "보이지 않는 문자는 쓸 수 없습니다".to_owned(),
        "must not mix scripts, such as Latin and Cyrillic letters" => {
            "라틴 문자와 키릴 문자처럼 서로 다른 문자를 섞어 쓸 수 없습니다".to_owned()
        }
        "has too many ligatures" => "합자가 너무 많습니다".to_owned(),
        "is reserved for the people who run the site" => "운영진만 쓸 수 있는 이름입니다".to_owned(),
        "may contain only letters, digits and _" => "글자, 숫자, _만 쓸 수 있습니다".to_owned(),
        "is not a comment on this article, or has been deleted" => {
            "이 글의 댓글이 아니거나 삭제된 댓글입니다".to_owned()
        }
        "is a reply, and on this board replies cannot be replied to" => {
            "이 게시판에서는 답글에 답글을 달 수 없습니다".to_owned()
        }
        "has as many replies as one comment can have" => "이 댓글에는 더 이상 답글을 달 수 없습니다".to_owned(),
        _ => {
            if let Some(most) = number("must have at most ", " characters") {
                format!("{most}자까지 쓸 수 있습니다")
            } else if let Some(range) = number("must have ", " characters") {
                format!("{}자여야 합니다", range.replace(" to ", "~"))
            } else if let Some(levels) = number("is at level ", ", the deepest that replies can go on this site") {
                format!("이 사이트에서는 답글이 {levels}단계까지입니다")
            } else if let Some(range) = number("must be between ", "") {
                format!("{} 사이의 숫자여야 합니다", range.replace(" and ", "~"))
            } else if message.starts_with("must be 2 to 32 characters of a-z") {
                "2~32자의 a-z, 0-9, -만 쓸 수 있고 글자나 숫자로 시작해야 합니다".to_owned()
            } else {
                message.to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_comment::{DepthMax, LevelFull, Refusal};

    use super::*;

    #[test]
    fn rules_are_told_in_the_readers_language() {
        assert_eq!(rule(Lang::Ko, "must have at most 100 characters"), "100자까지 쓸 수 있습니다");
        assert_eq!(rule(Lang::Ko, "must have 2 to 32 characters"), "2~32자여야 합니다");
        assert_eq!(rule(Lang::Ko, "must be between 0 and 1000000"), "0~1000000 사이의 숫자여야 합니다");
        assert_eq!(rule(Lang::En, "must not be blank"), "must not be blank");
        for refusal in [
            Refusal::NoParent,
            Refusal::ReplyToReply,
            Refusal::TooDeep(DepthMax::DEFAULT),
            Refusal::LevelFull(LevelFull),
        ] {
            let [en, ko] = [Lang::En, Lang::Ko].map(|lang| rule(lang, &refusal.to_string()));
            assert!(en.starts_with(char::is_uppercase) && en.ends_with('.') && !ko.is_ascii(), "{refusal}: {en} {ko}");
        }
        let draft = madang_article::ArticleDraft { title: String::new(), content: "a\0".into() };
        for error in draft.check().unwrap_err().0 {
            assert_ne!(rule(Lang::Ko, &error.message), error.message, "{error:?} is not translated");
        }
    }
}
