-- +goose Up

-- The one clock of what readers see: when a gift changed, and whether a campaign has completed.
CREATE FUNCTION catalog_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

-- The updated_at of a change. It is later than that of every earlier change, even if the clock was set
-- back, so what a reader has is always older than what it has not seen. The caller holds the advisory
-- lock of all changes.
CREATE FUNCTION next_change() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$SELECT greatest(catalog_now(), (SELECT max(updated_at) FROM products WHERE published_once) + interval '1 microsecond')$$;
