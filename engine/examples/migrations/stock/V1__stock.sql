-- What is left of each thing. Not a merge: a quantity taken twice is wrong, so each event is applied once, by the inbox.
CREATE TABLE stock (
    sku      VARCHAR(32) NOT NULL PRIMARY KEY,
    quantity INT         NOT NULL
);
