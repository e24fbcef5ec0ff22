-- +goose Up

-- What the database server said of itself when it was last looked at; empty before the first look. After a restore it says
-- something else.
CREATE TABLE database_server (
    identity text NOT NULL
);
INSERT INTO database_server VALUES ('');
