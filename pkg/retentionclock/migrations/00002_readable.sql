-- +goose Up

-- The relay reads it where it deletes rows of an outbox. A time is no secret, and only logins of the service and the relay may
-- connect.
GRANT SELECT ON retention_clock TO PUBLIC;
