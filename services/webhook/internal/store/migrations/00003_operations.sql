-- +goose Up

-- A delivery can be sent again with a full set of attempts: attempts counts those since then,
-- attempts_before the earlier ones. The log counts all of them.
ALTER TABLE deliveries ADD COLUMN attempts_before smallint NOT NULL DEFAULT 0
    CONSTRAINT deliveries_attempts_before CHECK (attempts_before BETWEEN 0 AND 30000);

-- Serves the log of a key, newest event first: the ids of events grow with time.
CREATE INDEX deliveries_of_key ON deliveries (tenant_id, key_id, event_id);
