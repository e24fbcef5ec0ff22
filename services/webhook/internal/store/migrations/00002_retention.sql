-- +goose Up

-- Serves the retention: the deliveries that finished first.
CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;
