-- +goose Up

-- The trace the event was fanned out in, in the form in which it travels between processes; empty
-- where nobody records it. Its deliveries belong to that trace.
ALTER TABLE events ADD COLUMN traceparent text NOT NULL DEFAULT '';
