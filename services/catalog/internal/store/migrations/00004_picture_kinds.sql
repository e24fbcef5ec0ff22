-- +goose Up

-- The pictures of the sender of a brand's notes, and its logos for dark pages. They are like heroes and logos, but release 1.0.0
-- keeps only 20 rows of a brand in brand_heroes and in brand_logos and deletes the others, so each kind has a table of its own.
CREATE TABLE brand_portraits (LIKE brand_heroes INCLUDING ALL, FOREIGN KEY (file_id) REFERENCES images);
CREATE TABLE brand_signatures (LIKE brand_heroes INCLUDING ALL, FOREIGN KEY (file_id) REFERENCES images);
CREATE TABLE brand_dark_logos (LIKE brand_logos INCLUDING ALL, FOREIGN KEY (file_id) REFERENCES images);
