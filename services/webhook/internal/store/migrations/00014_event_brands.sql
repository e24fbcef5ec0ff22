-- +goose Up

-- The brand of the event's record: a key that was limited to other brands since does not get the event again. Null in events that an
-- earlier version stored: only keys of all brands get them again.
ALTER TABLE events ADD COLUMN brand_id uuid;
