-- +goose Up

-- As images_known. A rendition is written once, so that its file id stays valid: the one that is there is kept, even if the first
-- cell has made another one of the same width.
-- +goose StatementBegin
CREATE FUNCTION image_renditions_keep_known() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM image_renditions r WHERE r.original = NEW.original AND r.width = NEW.width) THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER image_renditions_known BEFORE INSERT ON image_renditions
    FOR EACH ROW EXECUTE FUNCTION image_renditions_keep_known();
ALTER TABLE image_renditions ENABLE REPLICA TRIGGER image_renditions_known;
