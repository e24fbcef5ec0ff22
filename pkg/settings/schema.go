package settings

import (
	"log/slog"
	"math"
	"reflect"
	"strings"
	"time"
)

// Schema describes the values of a field for programs in other languages, such as the templates of the Helm chart.
type Schema struct {
	// Type is duration, number, bool, level or text, or the name of the rule that decides on the whole value (type rule).
	Type string `json:"type"`
	// Words are the words of the rule oneof and the schemes of the rule url.
	Words []string `json:"words,omitempty"`
	// Min and Max are bounds of a number, or of a duration in seconds. A number of 32 bits always has a Max.
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Default string   `json:"default,omitempty"`
}

// Schema describes the values of the field.
func (f Field) Schema() Schema {
	s := Schema{Type: f.kind(), Default: f.Default}
	for _, r := range f.rules {
		switch r.name {
		case "min":
			s.Min = r.bound(f)
		case "max":
			s.Max = r.bound(f)
		default:
			s.Type = r.name
			if r.name == "oneof" || r.name == "url" {
				s.Words = strings.Split(r.argument, "|")
			}
		}
	}
	if s.Max == nil && f.into.Kind() == reflect.Int32 {
		s.Max = new(float64(math.MaxInt32))
	}
	return s
}

func (f Field) kind() string {
	switch f.into.Interface().(type) {
	case time.Duration:
		return "duration"
	case slog.Level:
		return "level"
	}
	switch {
	case f.into.CanInt():
		return "number"
	case f.Format == "true or false":
		return "bool"
	default:
		return "text"
	}
}

// bound is the limit of the rules min and max.
func (r rule) bound(f Field) *float64 {
	limit := float64(r.limit)
	if f.kind() == "duration" {
		limit = time.Duration(r.limit).Seconds()
	}
	return &limit
}
