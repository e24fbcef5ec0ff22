-- +goose Up

-- The order or link of the event, whose events are erased with its person.
ALTER TABLE events ADD COLUMN subject_id uuid;
