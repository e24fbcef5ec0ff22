-- +goose Up

-- The images of a gift in display order, as readers get them: of each image its renditions from the
-- smallest to the largest, then the image itself.
CREATE FUNCTION shown_images(p_file_ids text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('fileId', f.file_id, 'width', f.width) ORDER BY i.place, f.width), '[]')
    FROM unnest(p_file_ids) WITH ORDINALITY AS i (file_id, place)
    CROSS JOIN LATERAL (
        SELECT r.file_id, r.width FROM image_renditions r WHERE r.original = i.file_id UNION ALL SELECT i.file_id, NULL
    ) AS f
$$;

-- Stored with the gift, because gifts are read far more often than written, and a page of gifts is read a
-- hundred times faster than by looking up the renditions. Code that writes image_file_ids, or renditions of
-- an image that gifts already show, must write image_file_ids (again).
ALTER TABLE products ADD COLUMN images jsonb NOT NULL DEFAULT '[]';

-- +goose StatementBegin
CREATE FUNCTION products_show_images() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.images := CASE WHEN cardinality(NEW.image_file_ids) = 0 THEN '[]' ELSE shown_images(NEW.image_file_ids) END;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER products_images_shown BEFORE INSERT OR UPDATE OF image_file_ids ON products
    FOR EACH ROW EXECUTE FUNCTION products_show_images();

UPDATE products SET image_file_ids = image_file_ids WHERE image_file_ids <> '{}';
