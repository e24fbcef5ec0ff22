-- +goose Up

-- The time up to which retention counts. It follows the database's clock, but never jumps ahead with it.
CREATE TABLE retention_clock (
    at timestamptz NOT NULL
);
INSERT INTO retention_clock VALUES (clock_timestamp());

-- The relay reads it where it deletes rows of an outbox. A time is no secret, and only logins of the service and the relay may
-- connect.
GRANT SELECT ON retention_clock TO PUBLIC;
