//! What people do on the site, in words that the tests share.

use crate::browser::Browser;
use crate::server::PASSWORD;

impl Browser {
    /// Becomes a member.
    pub(crate) async fn sign_up(&self, name: &str) {
        self.go("/sign-up").await.fill("#f-name", name).await.fill("#f-password", PASSWORD).await;
        self.press("form.write button").await.see_text(".who", name).await;
    }

    /// Signs in.
    pub(crate) async fn sign_in(&self, name: &str) {
        self.go("/sign-in").await.fill("#f-name", name).await.fill("#f-password", PASSWORD).await;
        self.press("form.write button").await.see_text(".who", name).await;
    }

    /// Signs out.
    pub(crate) async fn sign_out(&self) {
        self.press("form[action='/sign-out'] button").await.see("a[href^='/sign-in']").await;
    }

    /// Writes an article and gives its path.
    pub(crate) async fn write(&self, board: &str, title: &str, content: &str) -> String {
        self.go(&format!("/b/{board}/write")).await.fill("#f-title", title).await.fill("#f-content", content).await;
        self.press("#article-form button.strong").await.see_text("h1", title).await;
        self.path().await
    }

    /// Writes a comment by the form at the end.
    pub(crate) async fn comment(&self, text: &str) {
        self.fill("#comment-form textarea", text).await.press("#comment-form button").await;
        self.see_text(".comment", text).await;
    }

    /// The id of the comment that says `text`, as the page has it.
    pub(crate) async fn comment_id(&self, text: &str) -> String {
        self.see_text(".comment .text", text).await;
        let script = format!(
            "return [...document.querySelectorAll('.comment')].find(c => c.querySelector('.text')?.textContent.includes('{text}')).id"
        );
        self.run(&script).await.as_str().expect("an id").to_owned()
    }
}
