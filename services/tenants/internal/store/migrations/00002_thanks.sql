-- +goose Up

-- Whether players are not asked for a word of thanks.
ALTER TABLE gift_sites ADD COLUMN without_thanks boolean NOT NULL DEFAULT false;
