package importer_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/importer"
)

const jerseyID = "887658a1-e837-518d-85c0-a1d3ec462bbb"

func jersey() *catalogv1.PutProductRequest {
	return &catalogv1.PutProductRequest{
		Id: jerseyID, State: catalogv1.ProductState_PRODUCT_STATE_PUBLISHED,
		Name: "Team jersey", Description: "The jersey, of the season.",
		Translations: []*catalogv1.ProductTranslation{
			{Locale: "sv-SE", Name: "Matchtröja", Description: "Säsongens tröja.", Variations: []*catalogv1.VariationTranslation{
				{Dimension: "Size", Name: "Storlek", Values: map[string]string{"S": "Liten|smal"}}, {Dimension: "Print", Name: "Tryck"},
			}, Details: &catalogv1.GiftDetails{Material: "Merinoull", Story: "Stickad;\ni Bergen."}},
			{Locale: "de-DE", Name: "Trikot"},
		},
		Variations: []*catalogv1.Variation{
			{Dimension: "Size", Values: []string{"S", "M"}}, {Dimension: "Print", Values: []string{"A|B; C=D\\E"}},
		},
		Categories:         []string{"SPORT__CLOTHING", "SPORT__TEAM"},
		AvailableCountries: []string{"SE", "NO"},
		Prices:             []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "79.90"}, {Region: "DACH", AmountEur: "85"}},
		ImageFileIds:       []string{"0a1b2c3d4e5f60718293a4b5c6d7e8f9"},
		ImageVariations: []*catalogv1.ImageVariations{{
			FileId: "0a1b2c3d4e5f60718293a4b5c6d7e8f9", Variations: map[string]string{"Size": "M", "Print": "A|B; C=D\\E"},
		}},
		ReadyToSend: true, CustomizationAvailable: true,
		Details: &catalogv1.GiftDetails{
			Maker: "Fjord Knitting", Material: "Merino wool", Size: "70 cm", Story: "Knitted\nin Bergen.",
		},
	}
}

const jerseyJSON = `{"id": "887658a1-e837-518d-85c0-a1d3ec462bbb", "state": "PUBLISHED", "name": "Team jersey",
 "description": "The jersey, of the season.",
 "translations": [{"locale": "sv-SE", "name": "Matchtröja", "description": "Säsongens tröja.",
  "variations": [{"dimension": "Size", "name": "Storlek", "values": {"S": "Liten|smal"}}, {"dimension": "Print", "name": "Tryck"}],
  "details": {"material": "Merinoull", "story": "Stickad;\ni Bergen."}},
  {"locale": "de-DE", "name": "Trikot"}],
 "variations": [{"dimension": "Size", "values": ["S", "M"]}, {"dimension": "Print", "values": ["A|B; C=D\\E"]}],
 "categories": ["SPORT__CLOTHING", "SPORT__TEAM"], "availableCountries": ["SE", "NO"],
 "prices": [{"region": "NORDICS", "amountEur": "79.90"}, {"region": "DACH", "amountEur": 85}],
 "imageFileIds": ["0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
 "imageVariations": [{"fileId": "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "variations": {"Size": "M", "Print": "A|B; C=D\\E"}}],
 "details": {"maker": "Fjord Knitting", "material": "Merino wool", "size": "70 cm", "story": "Knitted\nin Bergen."},
 "customizationAvailable": true, "giftSet": false, "readyToSend": true}`

const (
	header = "id,state,name,description,name:sv-SE,description:sv-SE,name:de-DE,name:fr-FR,variations:sv-SE,variations:fr-FR," +
		"variations,categories,availableCountries,prices,imageFileIds,customizationAvailable,giftSet,readyToSend," +
		"maker,material,size,story,maker:fr-FR,material:sv-SE,story:sv-SE,imageVariations\n"
	jerseyCSV = jerseyID + `,PUBLISHED,Team jersey,"The jersey, of the season.",` +
		`Matchtröja,Säsongens tröja.,Trikot,,Size=Storlek|S=Liten\|smal; Print=Tryck,,` +
		`"Size=S|M; Print=A\|B\; C\=D\\E",SPORT__CLOTHING;SPORT__TEAM,SE;NO,NORDICS=79.90;DACH=85,` +
		`0a1b2c3d4e5f60718293a4b5c6d7e8f9,true,false,true,` +
		`Fjord Knitting,Merino wool,70 cm,"Knitted` + "\n" + `in Bergen.", ,Merinoull,"Stickad;` + "\n" + `i Bergen.",` +
		`0a1b2c3d4e5f60718293a4b5c6d7e8f9|Size=M|Print=A\|B\; C\=D\\E` + "\n"
)

// read reads a file up to the first error of the file.
func read(t *testing.T, format importer.Format, file string) ([]importer.Row, error) {
	t.Helper()
	rows, err := importer.Read(strings.NewReader(file), format)
	if err != nil {
		return nil, err
	}
	var all []importer.Row
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, row)
	}
}

func TestAGiftIsTheSameInEveryFormat(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		format importer.Format
		file   string
		line   int
	}{
		"JSON":                    {importer.JSON, "\n[\n" + jerseyJSON + "\n]\n", 3},
		"JSON with a BOM":         {importer.JSON, "\uFEFF[" + jerseyJSON + "]", 1},
		"NDJSON":                  {importer.NDJSON, "\n" + strings.ReplaceAll(jerseyJSON, "\n", "") + "\n\n", 2},
		"NDJSON without final LF": {importer.NDJSON, strings.ReplaceAll(jerseyJSON, "\n", ""), 1},
		"NDJSON declared as JSON": {importer.JSON, "\uFEFF  " + strings.ReplaceAll(jerseyJSON, "\n", "") + "\r\n", 1},
		"CSV":                     {importer.CSV, header + jerseyCSV, 2},
		"CSV with a BOM":          {importer.CSV, "\uFEFF" + header + "\n" + jerseyCSV, 3},
		"CSV with CRLF":           {importer.CSV, strings.ReplaceAll(header+jerseyCSV, "\n", "\r\n"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := read(t, tc.format, tc.file)
			require.NoError(t, err)
			require.Len(t, rows, 1)
			require.Empty(t, rows[0].Violations)
			require.Equal(t, tc.line, rows[0].Line)
			require.True(t, proto.Equal(jersey(), rows[0].Gift), "%v", rows[0].Gift)
		})
	}
}

// A new member of PutProduct needs a column, and an explanation in the help.
func TestEveryMemberHasAColumn(t *testing.T) {
	t.Parallel()
	members := (&catalogv1.PutProductRequest{}).ProtoReflect().Descriptor().Fields()
	for i := range members.Len() {
		name := members.Get(i).JSONName()
		require.Contains(t, importer.Files, name)
		switch name {
		case "translations":
			name = "name:sv-SE"
		case "details":
			name = "maker,material,size,story"
		}
		columns := "id,state,name," + name + "\n"
		if name == "id" || name == "state" || name == "name" {
			columns = "id,state,name\n"
		}
		_, err := importer.Read(strings.NewReader(columns), importer.CSV)
		require.NoError(t, err, name)
	}
}

func TestInvalidRowsDoNotAffectOthers(t *testing.T) {
	t.Parallel()
	const csv = "id,state,name,giftSet,prices,variations,categories\n"
	for name, tc := range map[string]struct {
		format importer.Format
		file   string
		want   []string
	}{
		"an unknown state":           {importer.CSV, csv + "i,SOLD,n,,,,\n", []string{"state"}},
		"an invalid boolean":         {importer.CSV, csv + "i,DRAFT,n,yes,,,\n", []string{"giftSet"}},
		"a price without a region":   {importer.CSV, csv + "i,DRAFT,n,,A=1;2,,\n", []string{"prices[1]"}},
		"a variation without values": {importer.CSV, csv + "i,DRAFT,n,,,Size,\n", []string{"variations[0]"}},
		"a missing image": {
			importer.CSV, strings.Replace(csv, "giftSet", "imageVariations", 1) + "i,DRAFT,n,0a1b|Colour=Navy;,,,\n",
			[]string{"imageVariations[1]"},
		},
		"an image that shows a value of no dimension": {
			importer.CSV, strings.Replace(csv, "giftSet", "imageVariations", 1) + "i,DRAFT,n,0a1b|Navy,,,\n",
			[]string{"imageVariations[0]"},
		},
		"a value without a translation": {
			importer.CSV, strings.Replace(csv, "giftSet", "variations:sv-SE", 1) + "i,DRAFT,n,Size=Storlek|S,,,\n",
			[]string{"variations:sv-SE[0]"},
		},
		"a backslash before a letter":  {importer.CSV, csv + "i,DRAFT,n,,,,a\\b\n", []string{"categories"}},
		"a cell too few":               {importer.CSV, csv + "i,DRAFT,n\n", []string{""}},
		"a cell too many":              {importer.CSV, csv + "i,DRAFT,n,,,,,\n", []string{""}},
		"invalid text in CSV":          {importer.CSV, csv + "i,DRAFT,\xff,,,,\n", []string{"name"}},
		"a line that is not JSON":      {importer.NDJSON, `{"id": "i"` + "\n", []string{""}},
		"a line that is not an object": {importer.NDJSON, `["id"]` + "\n", []string{""}},
		"null":                         {importer.JSON, `[null]`, []string{""}},
		"a member of another type": {
			importer.JSON, `[{"id": "i", "giftSet": "yes", "prices": [{"amountEur": true}]}]`, []string{"giftSet", "prices[0].amountEur"},
		},
		"a member twice": {importer.JSON, `[{"id": "i", "id": "j"}]`, []string{""}},
		"unknown members": {
			importer.JSON, `[{"colour": 1, "prices": [{}, {"amountEUR": "1"}]}]`, []string{"colour", "prices[1].amountEUR"},
		},
		"invalid text": {importer.JSON, "[{\"id\": \"\xff\"}]", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			good := strings.ReplaceAll(jerseyJSON, "\n", "")
			switch tc.format {
			case importer.CSV:
				tc.file += jerseyID + ",DRAFT,n,,,,\n"
			case importer.NDJSON:
				tc.file += good
			case importer.JSON:
				tc.file = strings.TrimSuffix(tc.file, "]") + "," + good + "]"
			}
			rows, err := read(t, tc.format, tc.file)
			require.NoError(t, err)
			require.Len(t, rows, 2)
			var got []string
			for _, f := range rows[0].Violations {
				require.Equal(t, problem.FieldInvalid, f.Code)
				got = append(got, f.Field)
			}
			require.Equal(t, tc.want, got)
			require.Empty(t, rows[1].Violations, "the next row is valid")
		})
	}
}

func TestRowsOfEmptyCellsAreSkipped(t *testing.T) {
	t.Parallel()
	empty := strings.Repeat(",", strings.Count(header, ",")) + "\n"
	rows, err := read(t, importer.CSV, header+",,,,\n"+jerseyCSV+empty+" , \t,\n"+jerseyCSV+empty+",,,,")
	require.NoError(t, err)
	require.Len(t, rows, 2)
	for i, line := range []int{3, 8} { // A gift has three lines.
		require.Equal(t, line, rows[i].Line)
		require.Empty(t, rows[i].Violations)
	}
	rows, err = read(t, importer.CSV, header+strings.Repeat(",\n", 100_000)+jerseyCSV)
	require.NoError(t, err)
	require.Len(t, rows, 1)
}

func TestABlankCellIsEmpty(t *testing.T) {
	t.Parallel()
	const blank = "\u200b\ufeff\u3164"
	const columns = "id,state,name,giftSet,prices,variations,categories,name:sv-SE,description:sv-SE,variations:sv-SE\n"
	rows, err := read(t, importer.CSV, columns+jerseyID+","+blank+",n"+strings.Repeat(","+blank, 7)+"\n")
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Empty(t, rows[0].Violations)
	require.Equal(t, (&catalogv1.PutProductRequest{Id: jerseyID, Name: "n"}).String(), rows[0].Gift.String())
}

func TestAFileErrorHasTheLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", importer.MaxRow+1)
	const tooLong = "a row has more than 1 MiB"
	for name, tc := range map[string]struct {
		format     importer.Format
		file       string
		rows, line int
		says       string
	}{
		"an empty CSV":              {importer.CSV, "", 0, 1, "the file is empty"},
		"an unknown column":         {importer.CSV, "id,state,name,colour\n", 0, 1, `no such column: "colour"`},
		"a column without a locale": {importer.CSV, "id,state,name,name:\n", 0, 1, `no such column: "name:"`},
		"a column twice":            {importer.CSV, "id,state,name,id\n", 0, 1, `the column appears twice: "id"`},
		"a missing column":          {importer.CSV, "id,name\n", 0, 1, `the column is missing: "state"`},
		"a stray quote": {
			importer.CSV, "id,state,name\na,b,c\na,b,\"c\" d\na,b,c\n", 1, 3, `extraneous or missing " in quoted-field`,
		},
		"an unclosed quote":            {importer.CSV, "id,state,name\na,b,c\na,b,\"" + long + long, 1, 3, tooLong},
		"a header that is long":        {importer.CSV, "id,state,name," + long + long + "\na,b,c\n", 0, 1, tooLong},
		"a row that is long":           {importer.CSV, "id,state,name\na,b,c\n\na,b," + long + "\na,b,c\n", 1, 4, tooLong},
		"a long row of several lines":  {importer.CSV, "id,state,name\na,b,\"x\n" + long + long + "\"\na,b,c\n", 0, 2, tooLong},
		"an empty JSON":                {importer.JSON, "", 0, 1, "unexpected EOF"},
		"JSON that is a text":          {importer.JSON, `"gifts"`, 0, 1, "the file must be an array of objects"},
		"truncated JSON":               {importer.JSON, "[\n{},\n{},\n{\"id\"", 2, 4, "unexpected EOF"},
		"JSON with a comma too few":    {importer.JSON, "[\n{}\n{}\n]", 1, 3, "after array element (expecting ',' or ']')"},
		"JSON with something after it": {importer.JSON, "[\n{}\n]\n{}", 1, 4, "something follows the end of the array"},
		"a long JSON row":              {importer.JSON, "[\n{},\n\n{\"name\": \"" + long + "\"},\n{}]", 1, 4, tooLong},
		"a long unclosed JSON string":  {importer.JSON, "[\n{},\n{\"name\": \"" + long + long + long + "},\n{}]", 1, 3, tooLong},
		"a long line of JSON":          {importer.NDJSON, "{}\n{\"name\": \"" + long + "\"}\n{}\n", 1, 2, tooLong},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := read(t, tc.format, tc.file)
			require.Len(t, rows, tc.rows)
			var fileErr *importer.FileError
			require.ErrorAs(t, err, &fileErr)
			require.Equal(t, tc.line, fileErr.Line, "%v", err)
			require.ErrorContains(t, err, tc.says)
		})
	}
}

func TestTheFormatIsDerivedFromTheExtension(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]importer.Format{
		"gifts.json": importer.JSON, "a/b.CSV": importer.CSV, "x.ndjson": importer.NDJSON, "x.jsonl": importer.NDJSON,
	} {
		got, err := importer.FormatOf(path)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := importer.FormatOf("gifts.xlsx")
	require.ErrorIs(t, err, importer.ErrFormat)
}

func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		header + jerseyCSV, jerseyJSON, "[" + jerseyJSON + ",{}]", "id,state,name\n\"a\"b,c", "[{\"a\":[[[", "\uFEFF{}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		for _, format := range []importer.Format{importer.CSV, importer.JSON, importer.NDJSON} {
			rows, _ := read(t, format, file)
			line := 0
			for _, row := range rows {
				require.Greater(t, row.Line, line-1, "lines do not go back")
				line = row.Line
				require.LessOrEqual(t, line, strings.Count(file, "\n")+1)
				if len(row.Violations) > 0 {
					continue
				}
				_, err := proto.Marshal(row.Gift)
				require.NoError(t, err, "a row without violations can be sent")
			}
		}
	})
}
