-- +goose Up

-- When the copies that an erasure cannot change are gone, by their place.
ALTER TABLE person_requests ADD COLUMN remainders jsonb NOT NULL DEFAULT '{}';
