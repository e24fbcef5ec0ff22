-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS deliveries_ended; -- The rest of an earlier attempt that failed.
-- Serves the log of a key, newest event first, of deliveries that failed or were dropped. Those that are delivered have no entry, so
-- it costs the usual delivery nothing.
CREATE INDEX CONCURRENTLY deliveries_ended ON deliveries (tenant_id, key_id, state, event_id)
    WHERE state IN ('FAILED', 'DROPPED');
