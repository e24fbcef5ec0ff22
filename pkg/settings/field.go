package settings

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Field is one variable of a configuration.
type Field struct {
	Variable string
	Default  string
	Doc      string
	Required bool
	Secret   bool
	// Format says in words what its value is.
	Format string

	into  reflect.Value
	rules []rule
}

func newField(tagged reflect.StructField, into reflect.Value, prefix string) (Field, error) {
	name, options, _ := strings.Cut(tagged.Tag.Get("env"), ",")
	f := Field{
		Variable: prefix + name, Default: tagged.Tag.Get("envDefault"), Doc: tagged.Tag.Get("doc"),
		Required: options == "required", Secret: tagged.Tag.Get("secret") == "true", into: into,
	}
	if options != "" && !f.Required {
		return f, fmt.Errorf("%w: %s has the unknown option %q", errTags, f.Variable, options)
	}
	format, err := formatOf(into)
	if err != nil {
		return f, fmt.Errorf("%s: %w", f.Variable, err)
	}
	formats := []string{}
	if f.rules, err = parseRules(tagged.Tag.Get("check")); err != nil {
		return f, fmt.Errorf("%s: %w", f.Variable, err)
	}
	for _, r := range f.rules {
		if r.replaces {
			format = r.format
			continue
		}
		formats = append(formats, r.format)
	}
	f.Format = strings.Join(append([]string{format}, formats...), ", ")
	return f, nil
}

var (
	errTags    = errors.New("settings")
	errMissing = errors.New("is required")
)

// set sets the field to the value, or to its default.
func (f Field) set(text string) error {
	if text == "" {
		text = f.Default
	}
	if text == "" {
		if f.Required {
			return fmt.Errorf("%w: %s", errMissing, f.Doc)
		}
		return nil
	}
	if err := parse(f.into, text); err != nil {
		return f.withValue(text, err)
	}
	for _, r := range f.rules {
		if err := r.check(f.into, text); err != nil {
			return f.withValue(text, err)
		}
	}
	if v, ok := f.into.Addr().Interface().(validator); ok {
		return v.Validate()
	}
	return nil
}

// withValue adds the value to its error, unless it is a secret.
func (f Field) withValue(text string, err error) error {
	if f.Secret {
		return fmt.Errorf("the value %w", err)
	}
	return fmt.Errorf("%q %w", text, err)
}

var (
	errDuration = errors.New("is not a duration such as 500ms, 90s or 24h")
	errNumber   = errors.New("is not a whole number, or too large")
	errBool     = errors.New("is neither true nor false")
	errType     = errors.New("is of a type that cannot be read")
)

// formatOf says what a value of the type looks like.
func formatOf(v reflect.Value) (string, error) {
	switch v.Interface().(type) {
	case time.Duration:
		return "duration", nil
	case []string:
		return "list, separated by commas", nil
	}
	if _, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return "text", nil
	}
	switch v.Kind() {
	case reflect.String:
		return "text", nil
	case reflect.Bool:
		return "true or false", nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "number", nil
	default:
		return "", fmt.Errorf("%w: %s", errType, v.Type())
	}
}

func parse(into reflect.Value, text string) error {
	switch v := into.Addr().Interface().(type) {
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return errDuration
		}
		*v = d
		return nil
	case *[]string:
		*v = nil
		for part := range strings.SplitSeq(text, ",") {
			*v = append(*v, strings.TrimSpace(part))
		}
		return nil
	case encoding.TextUnmarshaler:
		if err := v.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("is not understood: %w", err)
		}
		return nil
	}
	return parseKind(into, text)
}

func parseKind(into reflect.Value, text string) error {
	switch into.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errBool
		}
		into.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, into.Type().Bits())
		if err != nil {
			return errNumber
		}
		into.SetInt(n)
	default:
		into.SetString(text)
	}
	return nil
}
