-- +goose Up

-- Finds nothing: the constraints that orders_whole replaced held for all rows.
ALTER TABLE orders VALIDATE CONSTRAINT orders_whole;
