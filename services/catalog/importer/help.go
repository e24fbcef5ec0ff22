package importer

// Files explains the formats of files.
const Files = `Files are UTF-8, with at most 1 MiB per row, 1,000,000 rows, and each id once.

JSON is an array of objects, NDJSON one object per line:

  {"id": "887658a1-e837-518d-85c0-a1d3ec462bbb", "state": "PUBLISHED", "name": "Team jersey",
   "description": "The jersey of the season.",
   "translations": [{"locale": "sv-SE", "name": "Matchtröja", "description": "Säsongens tröja.",
                     "variations": [{"dimension": "Size", "name": "Storlek", "values": {"S": "Liten"}}],
                     "details": {"material": "Merinoull"}}],
   "details": {"maker": "Fjord Knitting", "material": "Merino wool", "size": "70 cm long", "story": "Knitted in Bergen."},
   "variations": [{"dimension": "Size", "values": ["S", "M"]}],
   "categories": ["SPORT__CLOTHING"], "availableCountries": ["SE", "NO"],
   "prices": [{"region": "NORDICS", "amountEur": "79.90"}],
   "imageFileIds": ["0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
   "imageVariations": [{"fileId": "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "variations": {"Size": "S"}}],
   "customizationAvailable": true, "giftSet": false, "readyToSend": true}

CSV begins with a line of column names, in any order; id, state and name are required:

  id                      UUID
  state                   DRAFT, PUBLISHED, ARCHIVED or INTERNAL
  name, description       in en-US
  name:LOCALE, description:LOCALE    translations, such as name:sv-SE
  maker, material, size   lines on the gift's page of the gift site, in en-US
  story                   a text there, which may have several lines
  maker:LOCALE, material:LOCALE, size:LOCALE, story:LOCALE    their translations
  variations:LOCALE       how a locale shows them, such as Size=Storlek|S=Liten|M=Mellan;Colour=Färg
  variations              Size=S|M;Colour=Red|Blue
  categories              SPORT__CLOTHING;HOME__TEXTILES
  availableCountries      SE;NO
  prices                  NORDICS=79.90;DACH=85
  imageFileIds            file ids of uploaded images, separated by ;
  imageVariations         what images show on the gift site: 0a1b2c3d4e5f60718293a4b5c6d7e8f9|Colour=Red;9f8e…|Colour=Blue
  customizationAvailable, giftSet, readyToSend    true, false or empty for false

To use ; | = or \ as text, put a backslash before it.
`
