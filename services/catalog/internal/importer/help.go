package importer

// Help explains the command.
const Help = `usage: catalog import --file gifts.json|gifts.ndjson|gifts.csv [flags]

Imports gifts into the running catalog service. A gift replaces the gift of its id whole; one that is
as the file says is left alone. Run it again after a kill or a fault: it goes on where it ended.

Files are UTF-8, with at most 1 MiB in a row, 1,000,000 rows, and each id once.

JSON is an array of objects, NDJSON one object in a line:

  {"id": "887658a1-e837-518d-85c0-a1d3ec462bbb", "state": "PUBLISHED", "name": "Team jersey",
   "description": "The jersey of the season.",
   "translations": [{"locale": "sv-SE", "name": "Matchtröja", "description": "Säsongens tröja."}],
   "variations": [{"dimension": "Size", "values": ["S", "M"]}],
   "categories": ["SPORT__CLOTHING"], "availableCountries": ["SE", "NO"],
   "prices": [{"region": "NORDICS", "amountEur": "79.90"}],
   "imageFileIds": ["0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
   "customizationAvailable": true, "giftSet": false, "readyToSend": true}

CSV begins with a line of column names, in any order; id, state and name are needed:

  id                      UUID
  state                   DRAFT, PUBLISHED, ARCHIVED or INTERNAL
  name, description       in en-US
  name:LOCALE, description:LOCALE    translations, such as name:sv-SE
  variations              Size=S|M;Colour=Red|Blue
  categories              SPORT__CLOTHING;HOME__TEXTILES
  availableCountries      SE;NO
  prices                  NORDICS=79.90;DACH=85
  imageFileIds            file ids of uploaded images, with ; between them
  customizationAvailable, giftSet, readyToSend    true, false or empty for false

A backslash takes the meaning from ; | = and \ behind it.

The report has an entry per row: line, id, outcome (created, updated, unchanged, rejected) and the
errors of its fields. Wrong rows are rejected and the others imported; a file that cannot be read on
ends the import with the line where that begins. Progress goes to the standard error. The exit code
is 0 when every row was taken, else 1.

Where the platform's calls are secured, the command needs the certificate of an operator, in the
variables GIFTING_TLS_CERT_FILE, GIFTING_TLS_KEY_FILE, GIFTING_TLS_CA_FILE and, where it is another
than partner-gifting, GIFTING_TLS_TRUST_DOMAIN.

`
