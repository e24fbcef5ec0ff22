-- +goose Up

-- The gifts are written in the first cell, and PostgreSQL's logical replication brings them to the others. Pictures are uploaded in
-- every cell: a cell may have an image already when it arrives from the first one. The row that is there is kept, because an image
-- is named by its content. The trigger fires only where a row arrives by replication, which does not stop at it.
-- +goose StatementBegin
CREATE FUNCTION images_keep_known() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM images i WHERE i.file_id = NEW.file_id) THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER images_known BEFORE INSERT ON images FOR EACH ROW EXECUTE FUNCTION images_keep_known();
ALTER TABLE images ENABLE REPLICA TRIGGER images_known;
