-- +goose Up

-- The record that the answer is about: only a key that still reaches its brand and has its scope gets the answer again. NULL: any key may.
ALTER TABLE idempotency_answers ADD COLUMN brand_id uuid, ADD COLUMN scope int;
