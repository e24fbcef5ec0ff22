package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

var (
	errUnknownColumn = errors.New("no such column")
	errColumnTwice   = errors.New("the column appears twice")
	errMissingColumn = errors.New("the column is missing")
)

// gift is a row that is being read.
type gift struct {
	*catalogv1.PutProductRequest

	violations []problem.Violation
}

func (g *gift) invalid(field, message string) {
	g.violations = append(g.violations, invalid(field, message))
}

// column reads a cell of a row.
type column struct {
	name string
	read func(g *gift, cell string)
}

// columns lists the columns with a fixed name. Columns of translations have the locale in their names.
func columns() []column {
	return []column{
		{"id", func(g *gift, cell string) { g.Id = cell }},
		{"state", readState},
		{"name", func(g *gift, cell string) { g.Name = cell }},
		{"description", func(g *gift, cell string) { g.Description = cell }},
		{"variations", readVariations},
		{"categories", func(g *gift, cell string) { g.Categories = readList(g, "categories", cell) }},
		{"availableCountries", func(g *gift, cell string) { g.AvailableCountries = readList(g, "availableCountries", cell) }},
		{"prices", readPrices},
		{"imageFileIds", func(g *gift, cell string) { g.ImageFileIds = readList(g, "imageFileIds", cell) }},
		{"imageVariations", readImageVariations},
		{"customizationAvailable", func(g *gift, cell string) {
			g.CustomizationAvailable = readBool(g, "customizationAvailable", cell)
		}},
		{"giftSet", func(g *gift, cell string) { g.GiftSet = readBool(g, "giftSet", cell) }},
		{"readyToSend", func(g *gift, cell string) { g.ReadyToSend = readBool(g, "readyToSend", cell) }},
	}
}

// detailMembers are the texts of details by the names of their columns. A column of a translation also has the locale in its name.
var detailMembers = map[string]func(d *catalogv1.GiftDetails) *string{
	"maker":    func(d *catalogv1.GiftDetails) *string { return &d.Maker },
	"material": func(d *catalogv1.GiftDetails) *string { return &d.Material },
	"size":     func(d *catalogv1.GiftDetails) *string { return &d.Size },
	"story":    func(d *catalogv1.GiftDetails) *string { return &d.Story },
}

// readColumns finds the columns of a file by their names.
func readColumns(names []string) ([]column, error) {
	var found []column
	seen := map[string]bool{}
	for _, name := range names {
		name = strings.ToValidUTF8(strings.TrimSpace(name), "?")
		if seen[name] {
			return nil, fmt.Errorf("%w: %q", errColumnTwice, name)
		}
		seen[name] = true
		c, err := columnOf(name)
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	for _, needed := range []string{"id", "state", "name"} {
		if !seen[needed] {
			return nil, fmt.Errorf("%w: %q", errMissingColumn, needed)
		}
	}
	return found, nil
}

func columnOf(name string) (column, error) {
	fixed := columns()
	if i := slices.IndexFunc(fixed, func(c column) bool { return c.name == name }); i >= 0 {
		return fixed[i], nil
	}
	kind, locale, _ := strings.Cut(name, ":")
	member, ofDetails := detailMembers[kind]
	switch {
	case ofDetails && (locale != "" || name == kind):
		return column{name, func(g *gift, cell string) {
			if !fields.Blank(cell) {
				*member(g.details(locale)) = cell
			}
		}}, nil
	case kind == "name" && locale != "":
		return column{name, func(g *gift, cell string) { g.translation(locale).Name = cell }}, nil
	case kind == "description" && locale != "":
		return column{name, func(g *gift, cell string) { g.translation(locale).Description = cell }}, nil
	case kind == "variations" && locale != "":
		return column{name, func(g *gift, cell string) { readVariationNames(g, locale, cell) }}, nil
	}
	return column{}, fmt.Errorf("%w: %q", errUnknownColumn, name)
}

// translation returns the translation into a locale, which it adds if it is missing.
func (g *gift) translation(locale string) *catalogv1.ProductTranslation {
	for _, t := range g.Translations {
		if t.GetLocale() == locale {
			return t
		}
	}
	t := &catalogv1.ProductTranslation{Locale: locale}
	g.Translations = append(g.Translations, t)
	return t
}

// details returns the details in a locale, empty for that of the gift itself. It adds them if they are missing.
func (g *gift) details(locale string) *catalogv1.GiftDetails {
	of := &g.Details
	if locale != "" {
		of = &g.translation(locale).Details
	}
	if *of == nil {
		*of = &catalogv1.GiftDetails{}
	}
	return *of
}

func readState(g *gift, cell string) {
	if fields.Blank(cell) {
		return // The rules reject an empty state.
	}
	state, known := enumname.Parse[catalogv1.ProductState](cell)
	if !known {
		g.invalid("state", "must be DRAFT, PUBLISHED, ARCHIVED or INTERNAL")
	}
	g.State = state
}

func readBool(g *gift, field, cell string) bool {
	if cell != "true" && cell != "false" && !fields.Blank(cell) {
		g.invalid(field, "must be true, false or empty")
	}
	return cell == "true"
}

func readVariations(g *gift, cell string) {
	for i, entry := range split(cell, ';') {
		pair := split(entry, '=')
		if len(pair) != 2 {
			g.invalid(fmt.Sprintf("variations[%d]", i), "must have the form Dimension=Value|Value")
			continue
		}
		v := &catalogv1.Variation{Dimension: unescape(g, "variations", pair[0])}
		for _, value := range split(pair[1], '|') {
			v.Values = append(v.Values, unescape(g, "variations", value))
		}
		g.Variations = append(g.Variations, v)
	}
}

// readVariationNames reads how a locale shows dimensions and values: Size=Storlek|S=Liten;Colour=Färg.
func readVariationNames(g *gift, locale, cell string) {
	field := "variations:" + locale
	for i, entry := range split(cell, ';') {
		var v *catalogv1.VariationTranslation
		for _, part := range split(entry, '|') {
			pair := split(part, '=')
			if len(pair) != 2 {
				g.invalid(fmt.Sprintf("%s[%d]", field, i), "must have the form Dimension=Name|Value=Name")
				return
			}
			original, name := unescape(g, field, pair[0]), unescape(g, field, pair[1])
			if v == nil {
				v = &catalogv1.VariationTranslation{Dimension: original, Name: name, Values: map[string]string{}}
				continue
			}
			v.Values[original] = name
		}
		if v != nil {
			t := g.translation(locale)
			t.Variations = append(t.Variations, v)
		}
	}
}

const imageVariationsForm = "must have the form FILEID|Dimension=Value"

// readImageVariations reads what images show: 0a1b2c3d|Colour=Navy;4e5f6071|Colour=Grey.
func readImageVariations(g *gift, cell string) {
	const field = "imageVariations"
	for i, entry := range split(cell, ';') {
		parts := split(entry, '|')
		if len(parts) == 0 {
			g.invalid(fmt.Sprintf("%s[%d]", field, i), imageVariationsForm)
			return
		}
		image := &catalogv1.ImageVariations{FileId: unescape(g, field, parts[0]), Variations: map[string]string{}}
		for _, part := range parts[1:] {
			pair := split(part, '=')
			if len(pair) != 2 {
				g.invalid(fmt.Sprintf("%s[%d]", field, i), imageVariationsForm)
				return
			}
			image.Variations[unescape(g, field, pair[0])] = unescape(g, field, pair[1])
		}
		g.ImageVariations = append(g.ImageVariations, image)
	}
}

func readPrices(g *gift, cell string) {
	for i, entry := range split(cell, ';') {
		pair := split(entry, '=')
		if len(pair) != 2 {
			g.invalid(fmt.Sprintf("prices[%d]", i), "must have the form REGION=amount")
			continue
		}
		region, amount := unescape(g, "prices", pair[0]), unescape(g, "prices", pair[1])
		g.Prices = append(g.Prices, &catalogv1.RegionPrice{Region: region, AmountEur: amount})
	}
}

func readList(g *gift, field, cell string) []string {
	entries := split(cell, ';')
	for i, entry := range entries {
		entries[i] = unescape(g, field, entry)
	}
	return entries
}

const escape = '\\'

// split divides a cell at each separator without a backslash before it. It keeps the backslashes for
// deeper levels. A blank cell has no entries.
func split(cell string, separator byte) []string {
	if fields.Blank(cell) {
		return nil
	}
	var entries []string
	start := 0
	for i := 0; i < len(cell); i++ {
		switch cell[i] {
		case escape:
			i++
		case separator:
			entries = append(entries, cell[start:i])
			start = i + 1
		}
	}
	return append(entries, cell[start:])
}

// unescape removes the backslashes of an entry and the space around it.
func unescape(g *gift, field, entry string) string {
	entry = strings.TrimSpace(entry)
	if strings.IndexByte(entry, escape) < 0 {
		return entry
	}
	var b strings.Builder
	for i := 0; i < len(entry); i++ {
		if entry[i] == escape {
			i++
			if i == len(entry) || strings.IndexByte(`;|=\`, entry[i]) < 0 {
				g.invalid(field, `a backslash must precede one of ; | = \`)
				return entry
			}
		}
		b.WriteByte(entry[i])
	}
	return b.String()
}
