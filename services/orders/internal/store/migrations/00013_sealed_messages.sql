-- +goose Up

-- The text of a message, sealed. Then body is '[sealed]', which the previous version shows, and body_bytes is the length of the text
-- in UTF-8. Null: the text is in body.
ALTER TABLE order_messages ADD COLUMN body_sealed bytea, ADD COLUMN body_bytes integer;

-- The previous version erases a text by replacing body. The sealed text must not outlive it.
-- +goose StatementBegin
CREATE FUNCTION order_messages_unseal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.body_sealed := NULL;
    NEW.body_bytes := NULL;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER order_messages_unseal BEFORE INSERT OR UPDATE ON order_messages
    FOR EACH ROW WHEN (NEW.body <> '[sealed]') EXECUTE FUNCTION order_messages_unseal();
