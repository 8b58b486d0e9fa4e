//! `madang check --config` finds a difference that somebody planted, in whichever database and on whichever server.

use madang_board::ArticleId;
use madang_kernel::{Id as _, ShardId};
use mysql_async::prelude::Queryable as _;

use crate::cluster::Cluster;
use crate::first_article::FirstArticle;
use crate::servers::Servers;
use crate::waiting::eventually;

/// Changes something behind everybody's back, in a service's database on all servers; tells how many rows.
pub(crate) fn damage(servers: &Servers, cluster: &Cluster, service: &str, sql: &str) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut changed = 0;
        for url in &servers.mysql {
            let opts = mysql_async::Opts::from_url(&format!("{url}/{}_{service}", cluster.name)).unwrap();
            let mut conn = mysql_async::Conn::new(opts).await.unwrap();
            conn.query_drop(sql).await.unwrap();
            changed += conn.affected_rows();
            conn.disconnect().await.unwrap();
        }
        changed
    })
}

#[test]
fn a_planted_difference_is_found_and_named() {
    let FirstArticle { servers, mut cluster, ann, board, article } = FirstArticle::on_one_process();
    cluster.like(&article, &ann);
    cluster.comment(&article, &ann, None);
    cluster.read(&article);
    eventually("everything has arrived, and nothing differs", || {
        let said = cluster.command(&["check"], "").stdout;
        let is_whole =
            ["3 counters with the hot scores of today", "compared 1 articles of the query model", "no difference"];
        is_whole.iter().all(|words| said.contains(words)).then_some(())
    });
    let planted = [
        ("like", "article_like_count SET like_count = like_count", format!("article_id = {article}"), "likes"),
        (
            "comment",
            "article_comment_count SET comment_count = comment_count",
            format!("article_id = {article}"),
            "comment",
        ),
        ("article", "board_article_count SET article_count = article_count", format!("board_id = {board}"), "board"),
    ];
    for (service, counter, row, word) in planted {
        let change = |by: &str| damage(&servers, &cluster, service, &format!("UPDATE {counter} {by} WHERE {row}"));
        assert_eq!(change("+ 1"), 1, "{counter}");
        let found = cluster.command(&["check"], "").expect(1).stdout;
        let is_named = found.lines().any(|line| line.contains(" counts ") && line.contains(word));
        assert!(is_named, "{service} in {found}");
        assert_eq!(change("- 1"), 1, "{counter}");
        cluster.command(&["check"], "").expect(0);
    }
    // A score has no counter of its own to differ from: it is compared with those of the other services.
    let score = |by: &str| {
        let sql = format!("UPDATE hot_score SET like_count = like_count {by} WHERE article_id = {article}");
        damage(&servers, &cluster, "hot_article", &sql)
    };
    assert_eq!(score("+ 1"), 1);
    let found = cluster.command(&["check"], "").expect(1).stdout;
    assert!(found.contains("has 1 likes (version 1) and is scored with 2 (version 1)"), "{found}");
    assert_eq!(score("- 1"), 1);
    cluster.command(&["check"], "").expect(0);
    cluster.stop();
}

#[test]
fn what_is_left_of_an_article_whose_deletion_was_missed_is_found_and_removed() {
    let FirstArticle { servers, mut cluster, ann, article, .. } = FirstArticle::on_one_process();
    cluster.like(&article, &ann);
    eventually("nothing differs", || (cluster.command(&["check"], "").code == 0).then_some(()));

    // As a like that was there when its article went, and nobody told the owner of likes.
    let gone = ArticleId::from_raw(article.parse::<i64>().unwrap() - 1);
    let shard = ShardId::of_parts(gone).number();
    let here = Servers { mysql: vec![servers.mysql[usize::from(shard) * servers.mysql.len() / 64].clone()], ..servers };
    let (liked, counted) = (
        format!("INSERT INTO article_like VALUES ({shard}, {gone}, 1, 'ann', 1)"),
        format!("INSERT INTO article_like_count VALUES ({shard}, {gone}, 1, 1)"),
    );
    assert_eq!(damage(&here, &cluster, "like", &liked) + damage(&here, &cluster, "like", &counted), 2);
    let found = cluster.command(&["check"], "").expect(1).stdout;
    let said = format!("article {gone} is neither there nor marked as deleted, and its likes are counted");
    assert!(found.contains(&said) && found.contains("1 difference\n"), "{found}");
    let removed = cluster.command(&["rebuild", "parts"], "").expect(0).stdout;
    assert!(removed.contains("comments of 0, likes of 1, views of 0"), "{removed}");
    cluster.command(&["check"], "").expect(0);
    assert_eq!(cluster.read(&article)["like_count"], 1, "what belongs to an article that is there stays");
    cluster.stop();
}
