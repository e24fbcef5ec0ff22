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
	meter   *meter
	lines   *shortRows
	csv     *csv.Reader
	columns []column
	// line of the latest row.
	line int
	// held is a row, or the end of the file, that follows rows that are too long.
	held *held
}

// held is a result of read.
type held struct {
	row Row
	err error
}

// newTable reads the column names.
func newTable(m *meter, from *bufio.Reader) (*table, error) {
	lines := &shortRows{meter: m, from: from}
	t := &table{meter: m, lines: lines, csv: csv.NewReader(lines)}
	t.csv.FieldsPerRecord = -1 // A row with too few or too many cells is an error of the row.
	m.row()
	names, err := t.csv.Read()
	if len(lines.tooLong) > 0 && (err != nil || t.position() > lines.tooLong[0]) {
		return nil, &FileError{Line: lines.tooLong[0], Err: errRowTooLong}
	}
	if errors.Is(err, io.EOF) {
		return nil, &FileError{Line: 1, Err: errEmptyFile}
	}
	if err != nil {
		return nil, fileError(err, 1)
	}
	t.columns, err = readColumns(names)
	if err != nil {
		return nil, &FileError{Line: 1, Err: err}
	}
	return t, nil
}

// position returns the line where the latest row began.
func (t *table) position() int {
	line, _ := t.csv.FieldPos(0)
	return line
}

// Next implements Rows. A row that is too long comes before the row that follows it: reading that has found it.
func (t *table) Next() (Row, error) {
	if t.held == nil {
		row, err := t.read()
		t.held = &held{row: row, err: err}
	}
	if long := t.lines.tooLong; len(long) > 0 && (t.held.err != nil || long[0] < t.held.row.Line) {
		t.lines.tooLong = long[1:]
		return tooLongRow(long[0]), nil
	}
	next := t.held
	t.held = nil
	return next.row, next.err
}

func (t *table) read() (Row, error) {
	t.meter.row()
	cells, err := t.csv.Read()
	for err == nil && empty(cells) {
		t.meter.row()
		cells, err = t.csv.Read()
	}
	if errors.Is(err, io.EOF) {
		return Row{}, err
	}
	if len(cells) > 0 {
		t.line = t.position()
	}
	if err != nil {
		return Row{}, fileError(err, t.line)
	}
	row := Row{Line: t.line}
	for _, cell := range cells {
		row.Size += len(cell)
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
		return fields.Blank(t.GetName()) && fields.Blank(t.GetDescription()) && len(t.GetVariations()) == 0
	})
	return g.PutProductRequest, g.violations
}

// fileError returns the line where the file stops being CSV.
func fileError(err error, line int) error {
	if syntax, ok := errors.AsType[*csv.ParseError](err); ok {
		return &FileError{Line: syntax.StartLine, Err: syntax.Err}
	}
	if known, ok := errors.AsType[*FileError](err); ok {
		return known
	}
	return &FileError{Line: line, Err: err}
}
