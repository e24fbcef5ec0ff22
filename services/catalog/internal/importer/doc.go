// Package importer brings a file of gifts into the catalog: the command `catalog import`.
//
// It reads the file as a stream and sends the gifts in batches to the running catalog service, over
// its operations plane, rather than to the database. So the file is judged by the very rules of
// PutProduct, the service alone writes its database, one transaction and one short hold of the
// catalog's lock cover a batch, and whoever may import needs no more than may put gifts.
//
// An import repeats well. A gift that is as the file says is left alone, updatedAt too; after a kill
// or a fault the same command goes on where the first attempt ended, at the price of reading what it
// did. A batch whose answer was lost is sent again and may then be reported as unchanged.
//
// # Files
//
// A gift replaces the gift of its id whole: what the row leaves out is emptied. Files are UTF-8; a
// byte order mark is passed over. A row has at most 1 MiB, a file at most 1,000,000 rows and each id
// once: a later row of the same id is rejected, for which of the two were to hold?
//
// JSON is an array of objects, NDJSON one object in a line. Members are those of PutProduct:
//
//	{"id": "887658a1-e837-518d-85c0-a1d3ec462bbb", "state": "PUBLISHED", "name": "Team jersey",
//	 "description": "The jersey of the season.",
//	 "translations": [{"locale": "sv-SE", "name": "Matchtröja", "description": "Säsongens tröja."}],
//	 "variations": [{"dimension": "Size", "values": ["S", "M"]}], "categories": ["SPORT__CLOTHING"],
//	 "availableCountries": ["SE", "NO"], "prices": [{"region": "NORDICS", "amountEur": "79.90"}],
//	 "imageFileIds": ["0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
//	 "customizationAvailable": true, "giftSet": false, "readyToSend": true}
//
// A member of another name makes its row wrong.
//
// CSV begins with a line of column names, in any order; id, state and name must be among them:
//
//	id,state,name,description,name:sv-SE,description:sv-SE,variations,categories,availableCountries,prices,imageFileIds,…
//	887658a1-…,PUBLISHED,Team jersey,The jersey.,Matchtröja,Tröjan.,Size=S|M;Colour=Red,SPORT__CLOTHING,SE;NO,NORDICS=79.90,…
//
// name:LOCALE and description:LOCALE translate; a locale whose cells are both empty has no
// translation. Entries of a list stand between semicolons, values of a variation between bars; a
// backslash takes the meaning from the semicolon, bar, equals sign or backslash behind it. The three
// switches are true, false or empty for false.
//
// # Wrong rows and wrong files
//
// A wrong row is reported and the others are imported. A file that cannot be read on, as JSON that
// is no JSON or CSV with a quote astray, ends the import with the line where that begins; what stood
// before is imported.
//
// The report has one entry per row, in the order of the file: its line, the id, what became of it
// (created, updated, unchanged, rejected) and the faults of its fields. It is complete for what was
// imported at any moment, but for a batch whose answer was lost.
package importer
