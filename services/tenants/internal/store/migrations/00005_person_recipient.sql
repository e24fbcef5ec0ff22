-- +goose Up

-- The externalRecipientId of the person, sealed: a later attempt erases it from the stored answers of the links. An attempt that has
-- erased the links needs it no more.
ALTER TABLE person_requests ADD COLUMN recipient_sealed bytea;

-- A trigger, because the version before records erased links too, and does not know the column.
-- +goose StatementBegin
CREATE FUNCTION person_requests_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.recipient_sealed := NULL;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER person_requests_forget BEFORE UPDATE ON person_requests
    FOR EACH ROW WHEN (NEW.links_erased_at IS NOT NULL) EXECUTE FUNCTION person_requests_forget();
