-- +goose Up

-- While the rows of a tenant are copied to another cell, both cells drop old partitions, and both note the newest dropped event of the
-- tenant. The trigger fires only where a row arrives by PostgreSQL's logical replication, which does not stop at one that is there.
-- +goose StatementBegin
CREATE FUNCTION feed_dropped_merge() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE feed_dropped SET position = greatest(position, NEW.position) WHERE tenant_id = NEW.tenant_id;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER feed_dropped_merged BEFORE INSERT ON feed_dropped FOR EACH ROW EXECUTE FUNCTION feed_dropped_merge();
ALTER TABLE feed_dropped ENABLE REPLICA TRIGGER feed_dropped_merged;
