// Package importer imports gifts from a file into the catalog: the command `giftingctl catalog import`.
//
// It reads the file as a stream and sends the gifts in batches to the operations plane of the running catalog service. So the rules
// of PutProduct apply, and each batch is one transaction that holds the lock of the catalog for a short time.
//
// An import can be repeated: a gift that is already as in the file is not changed, and neither is its updatedAt. After an
// interruption or an error the same command continues. A batch whose response was lost is sent again; its gifts may then be
// reported as unchanged.
//
// A gift replaces the gift with the same id as a whole. Files explains the formats. An invalid row, and one whose id is in an
// earlier row, is reported and the others are imported. Where a file cannot be read further, such as JSON with a syntax error, CSV
// with an unclosed quote or a row of more than 1 MiB, the import ends with the number of the line, and the rows before it are
// imported.
//
// The report has one entry per row in the order of the file. At any moment it covers all that was imported, except for a batch
// whose response was lost.
package importer
