-- +goose Up

-- The time up to which retention counts. It follows the database's clock, but never jumps ahead with it.
CREATE TABLE retention_clock (
    at timestamptz NOT NULL
);
INSERT INTO retention_clock VALUES (clock_timestamp());
