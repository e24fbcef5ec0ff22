-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS events_of_subject; -- The rest of an earlier attempt that failed.
-- Serves the erasure of a person: the events of orders and links.
CREATE INDEX CONCURRENTLY events_of_subject ON events (tenant_id, subject_id);
