-- +goose Up

-- How often digits were tried since the claimed gift was last reopened, and until when no more are taken; null: they are.
ALTER TABLE links ADD COLUMN reopen_tries smallint NOT NULL DEFAULT 0;
ALTER TABLE links ADD COLUMN reopen_after timestamptz;
