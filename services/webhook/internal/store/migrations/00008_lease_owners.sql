-- +goose Up

-- The senders whose leases a claim counts. A sender knows its own deliveries in flight, so it counts only those of the others:
-- an endpoint's index entries of finished leases cannot be removed while an old snapshot is open, and most are its own.
CREATE TABLE senders (
    id      bigint      PRIMARY KEY,
    seen_at timestamptz NOT NULL
);
-- Leases of a version that does not set leased_by.
INSERT INTO senders (id, seen_at) VALUES (0, 'infinity');

-- The sender that holds the row's lease; 0 while it is not leased.
ALTER TABLE deliveries ADD COLUMN leased_by bigint NOT NULL DEFAULT 0;
