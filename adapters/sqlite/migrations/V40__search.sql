-- The search index: tokens of titles and texts, made by the program, in two generations, of which one is asked and the other is
-- filled by a rebuild. Contentless: what people wrote is not stored a second time. Every character of a token that is not
-- ASCII belongs to it, so that tokens are what the program put between spaces.
CREATE VIRTUAL TABLE search_text_0 USING fts5(
    title, body, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '+#'"
);
INSERT INTO search_text_0 (search_text_0, rank) VALUES ('rank', 'bm25(5.0, 1.0)');
CREATE VIRTUAL TABLE search_text_1 USING fts5(
    title, body, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '+#'"
);
INSERT INTO search_text_1 (search_text_1, rank) VALUES ('rank', 'bm25(5.0, 1.0)');

-- What hits are filtered by; the id is the rowid of the tokens. With gone_at, the mark of what was deleted, without tokens.
CREATE TABLE search_doc (
    generation INTEGER NOT NULL CHECK (generation IN (0, 1)),
    id         INTEGER NOT NULL,
    kind       INTEGER NOT NULL CHECK (kind IN (0, 1)),
    article_id INTEGER NOT NULL,
    board_id   INTEGER NOT NULL,
    writer_id  INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    gone_at    INTEGER,
    PRIMARY KEY (generation, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_doc_by_article ON search_doc (generation, article_id, kind);
CREATE INDEX search_doc_gone ON search_doc (generation, gone_at) WHERE gone_at IS NOT NULL;

-- One row. While the generation that is filled is the one that is asked, there was none before it.
CREATE TABLE search_state (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    active   INTEGER NOT NULL CHECK (active IN (0, 1)),
    building INTEGER CHECK (building IN (0, 1)),
    number   INTEGER NOT NULL,
    cursor   TEXT
) STRICT;
INSERT INTO search_state (one, active, building, number, cursor) VALUES (1, 0, 0, 1, NULL);
