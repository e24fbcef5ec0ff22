-- +goose Up

-- Marks an order of a personal link that already had an order when the constraint of the next migration was made: such orders
-- cannot satisfy it, and only a person can say what becomes of the second parcel. `orders reconcile` reports them. No new order
-- is ever marked.
ALTER TABLE orders ADD COLUMN link_repeated boolean NOT NULL DEFAULT false;
