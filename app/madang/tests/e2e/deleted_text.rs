//! The text of a deleted comment is in no table either, nor in the log.

use crate::api_comments::delete_a_secret;
use crate::server::Start;
use crate::{command, database};

#[test]
fn the_text_of_a_deleted_comment_is_kept_nowhere() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let (secret, name) = ("unmistakable secret", "whistleblower");
    delete_a_secret(&server, secret, name);
    server.stop();
    let file = database::open(data);
    // Every place that could keep it: what is told of comments, to people and to other services. Events tell who wrote the newest
    // comment of an article, for as long as the log is kept.
    for (text, table, column) in [
        (secret, "comment", "content"),
        (name, "comment", "writer_name"),
        (name, "article_comment_count", "last_writer_name"),
        (secret, "event_log", "payload"),
    ] {
        let sql = format!("SELECT count(*) FROM {table} WHERE instr(CAST({column} AS TEXT), '{text}') > 0");
        assert_eq!(database::number(&file, &sql), 0, "{text} in {table}.{column}");
    }
    let sql = format!("SELECT count(*) FROM once_answer WHERE instr(CAST(answer AS TEXT), '{secret}') > 0");
    assert_eq!(database::number(&file, &sql), 0);
    let told = "SELECT count(*) FROM event_log WHERE topic = 'madang.comment.v1'";
    assert_eq!(database::number(&file, told), 6, "two created and one deleted on each board");
    drop(file);
    // Nor on a page that became free.
    for name in std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let bytes = std::fs::read(&name).unwrap();
        let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_there, "the text is still in {}", name.display());
    }
    command::run(data, &["check"], "").expect(0);
}
