//! A forgotten password by pages alone: an administrator makes a link, the member chooses a new password by it.

use madang_board::Role;

use crate::support::{Person, TestSite};

/// Who they are, from the address of something that they wrote.
async fn page_of(person: &Person) -> String {
    let article = person.write("general", "t", "c").await;
    let text = person.get(&article).await.text();
    let id = text.split("href=\"/members/").nth(1).unwrap().split('"').next().unwrap();
    format!("/members/{id}")
}

fn link(page: &str) -> String {
    let (_, rest) = page.split_once("/password-reset/").expect("a link");
    format!("/password-reset/{}", rest.split('"').next().unwrap())
}

#[tokio::test]
async fn an_administrator_makes_a_link_and_the_member_chooses_a_password_by_it() {
    let site = TestSite::open().await;
    let (root, ann) = (site.with_role("root", Role::Admin).await, site.member("ann").await);
    let moderator = site.with_role("mo", Role::Moderator).await;
    let member = page_of(&ann).await;
    let form = format!("{member}/password-reset");
    for (person, status) in [(&ann, 403), (&moderator, 403), (&site.guest(), 401)] {
        person.get(&member).await.assert(200).is_silent_about(&form);
        person.submit("/", &form, &[("reset_own_password", "correct horse")]).await.assert(status);
    }
    root.get(&member).await.assert(200).says(&form);
    let wrong = root.submit(&member, &form, &[("reset_own_password", "wrong horse")]).await;
    wrong.assert(422).says("This is not your password.").is_silent_about("/password-reset/");
    let made = root.submit(&member, &form, &[("reset_own_password", "correct horse")]).await;
    made.assert(200).says("It is shown only this once.");
    assert_eq!((made.header("cache-control"), made.header("referrer-policy")), ("no-store", "no-referrer"));
    let link = link(&made.text());
    root.get("/moderation/log").await.says("gave a member a link to a new password").says(&member);

    let guest = site.guest();
    let page = guest.get(&link).await;
    page.assert(200).says("<strong>ann</strong>").says("noindex");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    guest.post(&link, &[("password", "short")]).await.assert(422).says("8 to 128 characters");
    assert_eq!(guest.post(&link, &[("password", "a quite new password")]).await.leads_to(), "/sign-in");
    guest.get("/sign-in").await.assert(200).says("Your password was changed. Sign in with the new one.");
    for person in [&guest, &site.guest().speaking("ko")] {
        person.get(&link).await.assert(404);
        person.post(&link, &[("password", "yet another password")]).await.assert(404);
    }
    site.guest().speaking("ko").get(&link).await.says("더 이상 쓸 수 없는 링크입니다");
    ann.get("/sessions").await.assert(401);
    let fields = |password| [("name", "ann"), ("password", password)];
    guest.post("/sign-in", &fields("correct horse")).await.assert(401);
    guest.post("/sign-in", &fields("a quite new password")).await.leads_to();
    guest.get("/sessions").await.assert(200);
    guest.get("/password-reset/x").await.assert(404);
}
