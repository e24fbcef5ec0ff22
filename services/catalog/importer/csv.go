package importer

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

var errEmptyFile = errors.New("the file is empty; it must begin with the names of its columns")

// table reads the rows of a CSV file.
type table struct {
	limiter *rowLimiter
	csv     *csv.Reader
	columns []column
	// line of the latest row.
	line int
}

// newTable reads the column names.
func newTable(limiter *rowLimiter, input *bufio.Reader) (*table, error) {
	t := &table{limiter: limiter, csv: csv.NewReader(input), line: 1}
	t.csv.FieldsPerRecord = -1 // A row with too few or too many cells is an error of the row.
	names, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return nil, &FileError{Line: 1, Err: errEmptyFile}
	}
	if err != nil {
		return nil, t.fileError(err)
	}
	t.columns, err = readColumns(names)
	if err != nil {
		return nil, &FileError{Line: 1, Err: err}
	}
	return t, nil
}

// Next implements Rows.
func (t *table) Next() (Row, error) {
	t.limiter.startRow()
	cells, err := t.csv.Read()
	for err == nil && empty(cells) {
		t.limiter.startRow()
		cells, err = t.csv.Read()
	}
	if errors.Is(err, io.EOF) {
		return Row{}, err
	}
	if len(cells) > 0 {
		t.line, _ = t.csv.FieldPos(0)
	}
	if err != nil {
		return Row{}, t.fileError(err)
	}
	row := Row{Line: t.line}
	for _, cell := range cells {
		row.Size += len(cell)
	}
	if row.Size > MaxRow {
		return Row{}, t.fileError(errRowTooLong)
	}
	row.Gift, row.Violations = t.gift(cells)
	return row, nil
}

// empty reports whether a row has nothing, as spreadsheets write below the last one.
func empty(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return !fields.Blank(cell) })
}

func (t *table) gift(cells []string) (*catalogv1.PutProductRequest, []problem.Violation) {
	g := &gift{PutProductRequest: &catalogv1.PutProductRequest{}}
	if len(cells) != len(t.columns) {
		g.violations = append(g.violations, invalid("", fmt.Sprintf("has %d cells for %d columns", len(cells), len(t.columns))))
	}
	for i, c := range t.columns[:min(len(t.columns), len(cells))] {
		if !utf8.ValidString(cells[i]) || strings.ContainsRune(cells[i], 0) {
			g.invalid(c.name, "must be valid text without NUL characters")
			continue
		}
		c.read(g, cells[i])
	}
	g.Translations = slices.DeleteFunc(g.Translations, func(t *catalogv1.ProductTranslation) bool {
		return fields.Blank(t.GetName()) && fields.Blank(t.GetDescription()) && len(t.GetVariations()) == 0 &&
			t.GetDetails() == nil
	})
	return g.PutProductRequest, g.violations
}

// fileError returns the line where the file stops being CSV.
func (t *table) fileError(err error) error {
	if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
		return &FileError{Line: syntax.StartLine, Err: syntax.Err}
	}
	return &FileError{Line: t.line, Err: err}
}
