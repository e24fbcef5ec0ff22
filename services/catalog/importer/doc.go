// Package importer imports gifts from a file into the catalog: the command `giftingctl catalog import`.
//
// It reads the file as a stream and sends the gifts in batches to the operations plane of the running
// catalog service. So the rules of PutProduct apply, only the service writes its database, and each batch
// is one transaction that holds the lock of the catalog for a short time.
//
// An import can be repeated. A gift that is already as in the file is not changed, and neither is its updatedAt. After
// an interruption or an error the same command continues where it stopped, though it reads the file from the beginning.
// A batch whose response was lost is sent again; its gifts may then be reported as unchanged.
//
// # Files
//
// A gift replaces the gift with the same id as a whole: fields that the row leaves out become empty. Files
// are UTF-8, with or without a byte order mark. A row has at most 1 MiB and a file at most 1,000,000 rows.
// A row whose id is in an earlier row is rejected, and so is a longer row. A longer row in which a quote or bracket is not closed ends
// the import, because its end is not known.
//
// JSON is an array of objects, NDJSON one object per line. The members are those of PutProduct; a row with another
// member is rejected. CSV begins with a line of column names in any order. Columns name:LOCALE, description:LOCALE and
// variations:LOCALE are translations; a locale whose cells are all empty has none. Files shows both formats with all members and columns.
//
// # Invalid rows and files
//
// An invalid row is reported and the others are imported. Where a file cannot be read further, such as JSON
// with a syntax error or CSV with an unclosed quote, the import ends with the number of the line. The rows
// before it are imported.
//
// The report has one entry per row in the order of the file: its line, the id, the outcome (created,
// updated, unchanged, rejected) and the errors of its fields. At any moment it covers all that was imported,
// except for a batch whose response was lost.
package importer
