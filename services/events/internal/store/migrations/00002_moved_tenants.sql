-- +goose Up

-- The epochs in which the cursors of a tenant were made in other cells, before it moved to this one. A cursor of such an epoch is good
-- up to the last of its events that neither the other cells nor this one has lost.
CREATE TABLE feed_moved_epochs (
    tenant_id    uuid   NOT NULL,
    -- The name of the epoch in cursors, as in feed_epochs.
    id           bigint NOT NULL,
    -- The last position of the epoch that was not lost when the tenant came.
    survived     bigint NOT NULL,
    -- The number of the newest epoch of this feed when the tenant came: later ones may have lost events.
    before_epoch int    NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

-- feed_ensure_day creates the partition of a day unless it exists. The table is made alone and then attached, which does not block
-- readers and writers of the feed. CREATE TABLE … PARTITION OF would wait for all of them and block later ones. The lock is that of
-- all that create or drop a partition.
-- +goose StatementBegin
CREATE FUNCTION feed_ensure_day(p_day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := 'feed_' || to_char(p_day, 'YYYYMMDD');
BEGIN
    PERFORM pg_advisory_xact_lock(7451599708547545459);
    IF to_regclass(name) IS NULL THEN
        EXECUTE format('CREATE TABLE %I (LIKE feed INCLUDING ALL)', name);
        EXECUTE format('ALTER TABLE feed ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, p_day, p_day + 1);
    END IF;
END
$$;
-- +goose StatementEnd

-- feed_survived is the last position of an epoch that no epoch of this feed after the numbered one has lost.
CREATE FUNCTION feed_survived(p_survived bigint, p_number int) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT least(p_survived, (SELECT min(survived) FROM feed_epochs WHERE number > p_number))
$$;

-- move_feed_out returns what the new cell of a tenant must know of this feed: the tenant's last position, the day of its newest event,
-- and its epochs, each with the last position that survived. Nothing may be appended for the tenant any more.
CREATE FUNCTION move_feed_out(p_tenant uuid, OUT last bigint, OUT last_day date, OUT epoch_ids bigint[], OUT survived bigint[])
LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT last_position FROM feed_tenants WHERE tenant_id = p_tenant), 0),
           (SELECT day FROM feed WHERE tenant_id = p_tenant ORDER BY day DESC LIMIT 1),
           array_agg(known.id ORDER BY known.id), array_agg(known.survived ORDER BY known.id)
    FROM (
        -- A tenant that was here before may have an epoch of this feed in both tables, see move_feed_in.
        SELECT e.id, max(e.survived) AS survived
        FROM (
            SELECT id, feed_survived(9223372036854775807, number) AS survived FROM feed_epochs
            UNION ALL
            SELECT id, feed_survived(feed_moved_epochs.survived, before_epoch) FROM feed_moved_epochs WHERE tenant_id = p_tenant
        ) e
        GROUP BY e.id
    ) known
$$;

-- move_feed_in prepares this feed for the events that a tenant will have here. It must be called after the rows of the tenant have
-- arrived and before the first event of the tenant is appended. It may be repeated. Positions and days then go on after those of the
-- other cell, so the tenant's events stay in order, and its cursors are known.
--
-- A tenant that comes back brings epochs of this feed, too. What this feed has lost while the tenant was away was not the tenant's.
-- So a cursor is good as far as one of the two tables says.
-- +goose StatementBegin
CREATE FUNCTION move_feed_in(p_tenant uuid, p_last bigint, p_last_day date, p_epoch_ids bigint[], p_survived bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- As when an epoch begins: it waits for the appends in flight and keeps others out.
    LOCK TABLE feed_writers IN EXCLUSIVE MODE;
    IF p_last > 0 AND p_last >= (SELECT last_value FROM feed_position) THEN
        PERFORM setval('feed_position', p_last);
    END IF;
    UPDATE feed_writers SET last_day = p_last_day WHERE last_day < p_last_day;
    INSERT INTO feed_moved_epochs (tenant_id, id, survived, before_epoch)
    SELECT p_tenant, e.id, e.survived, (SELECT max(number) FROM feed_epochs)
    FROM unnest(p_epoch_ids, p_survived) AS e (id, survived)
    ON CONFLICT (tenant_id, id) DO UPDATE SET survived = excluded.survived, before_epoch = excluded.before_epoch;
END
$$;
-- +goose StatementEnd
