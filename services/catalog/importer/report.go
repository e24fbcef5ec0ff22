package importer

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

// Entry of a report is the outcome of a row.
type Entry struct {
	Line    int          `json:"line"`
	ID      string       `json:"id"`
	Outcome string       `json:"outcome"`
	Errors  []FieldError `json:"errors"`
}

// FieldError is a violation of a field.
type FieldError struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The outcomes of a row.
const (
	Created   = "created"
	Updated   = "updated"
	Unchanged = "unchanged"
	Rejected  = "rejected"
)

// maxErrors bounds the errors of an entry.
const maxErrors = 20

func fieldErrors(violations []problem.Violation) []FieldError {
	errs := []FieldError{}
	for _, v := range violations[:min(len(violations), maxErrors)] {
		errs = append(errs, FieldError(v))
	}
	return errs
}

// Report records the entries of an import.
type Report interface {
	Write(e Entry) error
	// Flush writes buffered entries.
	Flush() error
}

// NewReport writes JSON lines, or CSV with the columns line, id, outcome and errors. Each error has a field, a code and a message.
// Ids and names of fields come from the file. They are written so that they cannot control a terminal or a spreadsheet.
func NewReport(to io.Writer, format Format) (Report, error) {
	switch format {
	case JSON, NDJSON:
		return &jsonReport{to: bufio.NewWriter(to)}, nil
	case CSV:
		r := csvReport{csv.NewWriter(to)}
		return r, r.to.Write([]string{"line", "id", "outcome", "errors"})
	}
	return nil, ErrFormat
}

type jsonReport struct{ to *bufio.Writer }

func (r *jsonReport) Write(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = r.to.WriteString(fields.VisibleJSON(line) + "\n")
	return err
}

func (r *jsonReport) Flush() error { return r.to.Flush() }

type csvReport struct{ to *csv.Writer }

func (r csvReport) Write(e Entry) error {
	var errs []string
	for _, f := range e.Errors {
		errs = append(errs, strings.TrimSpace(f.Field+" "+f.Code+": "+f.Message))
	}
	return r.to.Write([]string{strconv.Itoa(e.Line), cell(e.ID), e.Outcome, cell(strings.Join(errs, "; "))})
}

// formula finds where a spreadsheet would begin to compute: at the beginning of a cell. In some countries a semicolon ends a cell.
var formula = regexp.MustCompile(`(^|;)([=+\-@＝＋－＠])`)

func cell(text string) string { return formula.ReplaceAllString(fields.VisibleLine(text), "$1'$2") }

func (r csvReport) Flush() error {
	r.to.Flush()
	return r.to.Error()
}
