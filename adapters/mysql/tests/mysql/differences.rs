//! What counters and the rows they count disagree about, asked of the servers themselves.

use crate::support::TestDb;

impl TestDb {
    /// Counters of likes that differ from their rows.
    pub(crate) async fn like_differences(&self) -> Vec<String> {
        let sql = "SELECT c.article_id, c.like_count, COUNT(l.member_id)
                   FROM article_like_count c
                   LEFT JOIN article_like l ON l.shard = c.shard AND l.article_id = c.article_id
                   GROUP BY c.shard, c.article_id HAVING c.like_count <> COUNT(l.member_id)
                   UNION ALL
                   SELECT l.article_id, -1, COUNT(*) FROM article_like l
                   LEFT JOIN article_like_count c ON c.shard = l.shard AND c.article_id = l.article_id
                   WHERE c.article_id IS NULL GROUP BY l.shard, l.article_id";
        let rows: Vec<(i64, i64, i64)> = self.rows(sql).await;
        rows.iter().map(|(article, count, rows)| format!("{article}: counted {count}, rows {rows}")).collect()
    }

    /// Counters and blocks of boards that differ from the articles they count.
    pub(crate) async fn article_differences(&self) -> Vec<String> {
        let counters = "SELECT c.board_id, 0, c.article_count, COUNT(a.article_id)
                        FROM board_article_count c LEFT JOIN article a ON a.board_id = c.board_id
                        GROUP BY c.shard, c.board_id HAVING c.article_count <> COUNT(a.article_id)";
        let blocks = "SELECT b.board_id, b.level, b.article_count, COUNT(a.article_id)
                      FROM (SELECT shard, board_id, level, first_id, article_count,
                                   COALESCE(LEAD(first_id) OVER (PARTITION BY board_id, level ORDER BY first_id),
                                            9223372036854775807) AS next_id
                            FROM article_block) b
                      LEFT JOIN article a
                        ON a.board_id = b.board_id AND a.article_id >= b.first_id AND a.article_id < b.next_id
                      GROUP BY b.board_id, b.level, b.first_id, b.article_count
                      HAVING b.article_count <> COUNT(a.article_id)";
        let uncounted = "SELECT a.board_id, 0, -1, COUNT(*) FROM article a
                         WHERE NOT EXISTS (SELECT 1 FROM board_article_count c WHERE c.board_id = a.board_id)
                         GROUP BY a.board_id";
        let mut differences = Vec::new();
        for sql in [counters, blocks, uncounted] {
            let rows: Vec<(i64, i64, i64, i64)> = self.rows(sql).await;
            differences.extend(rows.iter().map(|(board, level, count, rows)| {
                format!("board {board}, level {level}: counted {count}, rows {rows}")
            }));
        }
        differences
    }

    /// Counters of comments that differ from their rows, and replies to nothing.
    pub(crate) async fn comment_differences(&self) -> Vec<String> {
        let counted = "SELECT c.article_id, c.comment_count, c.row_count, COUNT(m.content), COUNT(m.comment_id)
                       FROM article_comment_count c LEFT JOIN comment m ON m.article_id = c.article_id
                       GROUP BY c.shard, c.article_id
                       HAVING c.comment_count <> COUNT(m.content) OR c.row_count <> COUNT(m.comment_id)";
        let uncounted = "SELECT m.article_id, -1, -1, 0, COUNT(*) FROM comment m
                         WHERE NOT EXISTS (SELECT 1 FROM article_comment_count c WHERE c.article_id = m.article_id)
                           AND NOT EXISTS (SELECT 1 FROM comment_article_gone g WHERE g.article_id = m.article_id)
                         GROUP BY m.article_id";
        let of_gone = "SELECT c.article_id, c.comment_count, -1, -1, -1 FROM article_comment_count c
                       JOIN comment_article_gone g ON g.article_id = c.article_id";
        let orphans = "SELECT m.article_id, m.comment_id, m.parent_id, -1, -1 FROM comment m
                       LEFT JOIN comment p ON p.comment_id = m.parent_id AND p.article_id = m.article_id
                       WHERE p.comment_id IS NULL
                         AND NOT EXISTS (SELECT 1 FROM comment_article_gone g WHERE g.article_id = m.article_id)";
        let mut differences = Vec::new();
        for sql in [counted, uncounted, of_gone, orphans] {
            let rows: Vec<(i64, i64, i64, i64, i64)> = self.rows(sql).await;
            differences.extend(rows.iter().map(|row| format!("{row:?}")));
        }
        differences
    }

    /// Scores that differ from their counts, and lists without a mark.
    pub(crate) async fn hot_differences(&self) -> Vec<String> {
        let scores = "SELECT day, article_id, falling_score FROM hot_score
                      WHERE CAST(-falling_score AS UNSIGNED) <> IF(deleted OR hidden, 0, 3 * like_count + 2 * comment_count + view_count)";
        let unmarked =
            "SELECT DISTINCT f.day, 0, 0 FROM hot_final f JOIN hot_day d ON d.shard = f.shard AND d.day = f.day
                        WHERE d.finalised_at IS NULL";
        let gone = "SELECT f.day, f.article_id, f.place FROM hot_final f
                    LEFT JOIN hot_score s ON s.shard = f.shard AND s.day = f.day AND s.article_id = f.article_id
                    WHERE s.deleted IS NULL OR s.deleted = 1";
        let mut differences = Vec::new();
        for sql in [scores, unmarked, gone] {
            let rows: Vec<(i64, i64, i64)> = self.rows(sql).await;
            differences.extend(rows.iter().map(|row| format!("{row:?}")));
        }
        differences
    }
}
