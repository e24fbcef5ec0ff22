-- +goose Up

-- The trace in which the event was fanned out, as a W3C traceparent; empty if it is not recorded. The
-- event's deliveries belong to that trace.
ALTER TABLE events ADD COLUMN traceparent text NOT NULL DEFAULT '';
