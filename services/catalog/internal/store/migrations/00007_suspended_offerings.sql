-- +goose Up

-- Whether a choice has exactly one value of the gift for each dimension. Texts are compared in the normalization form C, as
-- everywhere in the catalog.
CREATE FUNCTION is_exact_choice(p_variations jsonb, p_choice jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT (SELECT count(*) FROM jsonb_object_keys(p_choice)) = count(*) AND coalesce(bool_and(EXISTS (
        SELECT FROM jsonb_each_text(p_choice) c CROSS JOIN jsonb_array_elements_text(v.variation -> 'values') AS a (value)
        WHERE normalize(c.key) = normalize(v.variation ->> 'dimension') AND normalize(c.value) = normalize(a.value)
    )), true)
    -- A gift without variations may have null.
    FROM jsonb_array_elements(CASE jsonb_typeof(p_variations) WHEN 'array' THEN p_variations ELSE '[]' END) AS v (variation)
$$;

-- A gift is suspended in campaigns that can no longer offer it: it left the catalog, or lost an offered combination. An offering
-- stays suspended until it is resumed or put again, alone or with its campaign. Release 1.0 does the same itself.
-- +goose StatementBegin
CREATE FUNCTION products_suspend_offerings() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    -- The lock of all changes, which those of this cell hold. While a change arrives by replication, it keeps out requests that put
    -- or resume an offering of the gift as it was.
    PERFORM pg_advisory_xact_lock(4713001);
    IF OLD.state = 'PUBLISHED' AND NEW.state <> 'PUBLISHED' THEN
        UPDATE offerings SET status = 'NEEDS_REVIEW' WHERE product_id = NEW.id AND status = 'ACTIVE';
    ELSE
        UPDATE offerings o SET status = 'NEEDS_REVIEW' WHERE o.product_id = NEW.id AND o.status = 'ACTIVE' AND EXISTS (
            SELECT FROM skus s
            WHERE s.tenant_id = o.tenant_id AND s.campaign_id = o.campaign_id AND s.product_id = o.product_id AND s.offered
              AND NOT is_exact_choice(NEW.variations, s.variations)
        );
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER products_offerings_suspended AFTER UPDATE ON products FOR EACH ROW
    WHEN (OLD.state = 'PUBLISHED' AND NEW.state <> 'PUBLISHED' OR OLD.variations <> NEW.variations)
    EXECUTE FUNCTION products_suspend_offerings();
-- In other cells the change of a gift arrives by replication, for which ordinary triggers do not fire.
ALTER TABLE products ENABLE ALWAYS TRIGGER products_offerings_suspended;
