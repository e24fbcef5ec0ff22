-- +goose Up

-- When the server started, empty before the first look. A server whose disk was set back has started since.
ALTER TABLE database_server ADD COLUMN started text NOT NULL DEFAULT '';
