// Package settings reads configuration from the environment into structs and reports all errors together.
//
// Every variable starts with GIFTING_; an empty one counts as not set. The struct tags of a field describe its variable:
//
//	env:"NAME" or env:"NAME,required"   its name without the prefix
//	envDefault:"…"                      what is taken when it is not set
//	check:"rule,rule=argument"          what its value must be (type rule); an empty value is not checked
//	secret:"true"                       it belongs in a secret, and errors do not repeat it
//	doc:"…"                             what it is for
//
// A nested struct may have envPrefix. For checks of several fields, or checks that no rule covers, a struct has a method
// Validate() error, which returns results of Invalid, joined.
package settings

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
)

// Prefix of every variable of the platform.
const Prefix = "GIFTING_"

// VariableError is the error of one variable.
type VariableError struct {
	Variable string
	Err      error
}

// Error implements error.
func (f *VariableError) Error() string { return f.Variable + ": " + f.Err.Error() }

// Unwrap returns the cause.
func (f *VariableError) Unwrap() error { return f.Err }

// Invalid wraps the error of the variable with the name, given without prefix. It is nil if err is nil.
func Invalid(name string, err error) error {
	if err == nil {
		return nil
	}
	return &VariableError{Variable: Prefix + name, Err: err}
}

// VariableErrors are all errors of a configuration.
type VariableErrors []error

// Error lists the errors, one a line.
func (f VariableErrors) Error() string {
	lines := make([]string, len(f))
	for i, err := range f {
		lines[i] = "\n  " + err.Error()
	}
	return "configuration:" + strings.Join(lines, "")
}

// Unwrap returns the errors.
func (f VariableErrors) Unwrap() []error { return f }

// Load fills cfg, a pointer to a struct, from the environment. Its error is of the type VariableErrors.
func Load(cfg any) error { return LoadFrom(cfg, os.Getenv) }

// LoadFrom is Load with another source of the values, by the names of the variables.
func LoadFrom(cfg any, value func(variable string) string) error {
	w, err := walk(cfg)
	if err != nil {
		return err
	}
	var errs VariableErrors
	for _, f := range w.fields {
		if err := f.set(value(f.Variable)); err != nil {
			errs = append(errs, &VariableError{Variable: f.Variable, Err: err})
		}
	}
	for _, s := range w.structs {
		errs = errs.add(s.Validate())
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// add appends the errors of a Validate, except for variables that already have one, from which they may follow.
func (f VariableErrors) add(err error) VariableErrors {
	if err == nil {
		return f
	}
	// The joined errors themselves, and not what they wrap.
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			f = f.add(one)
		}
		return f
	}
	found, ok := errors.AsType[*VariableError](err)
	for _, known := range f {
		if before, is := errors.AsType[*VariableError](known); ok && is && before.Variable == found.Variable {
			return f
		}
	}
	return append(f, err)
}

// validator is a struct that checks its fields.
type validator interface{ Validate() error }

// walker collects the fields of a configuration, and the structs that check theirs.
type walker struct {
	fields  []Field
	structs []validator
}

var errNoStruct = errors.New("settings: not a pointer to a struct")

func walk(cfg any) (*walker, error) {
	v := reflect.ValueOf(cfg)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: %T", errNoStruct, cfg)
	}
	w := &walker{}
	if err := w.visit(v.Elem(), Prefix); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *walker) visit(v reflect.Value, prefix string) error {
	for tagged := range v.Type().Fields() {
		inner := v.FieldByIndex(tagged.Index)
		switch name := tagged.Tag.Get("env"); {
		case name != "":
			f, err := newField(tagged, inner, prefix)
			if err != nil {
				return err
			}
			w.fields = append(w.fields, f)
		case inner.Kind() == reflect.Struct && tagged.IsExported():
			if err := w.visit(inner, prefix+tagged.Tag.Get("envPrefix")); err != nil {
				return err
			}
		}
	}
	if v, ok := v.Addr().Interface().(validator); ok {
		w.structs = append(w.structs, v)
	}
	return nil
}

// Defaults fills the zero fields of cfg, a pointer to a struct, with the defaults of their tags, for a configuration that was
// not read by Load. A zero number stays zero if its check allows zero.
func Defaults(cfg any) error {
	w, err := walk(cfg)
	if err != nil {
		return err
	}
	for _, f := range w.fields {
		if f.Default == "" || !f.into.IsZero() || f.takesZero() {
			continue
		}
		if err := parse(f.into, f.Default); err != nil {
			return &VariableError{Variable: f.Variable, Err: err}
		}
	}
	return nil
}

func (f Field) takesZero() bool {
	for _, r := range f.rules {
		if !f.into.CanInt() || r.check(f.into, "0") != nil {
			return false
		}
	}
	return len(f.rules) > 0
}

// Fields are the variables of cfg, a pointer to a struct, in the order of the struct.
func Fields(cfg any) ([]Field, error) {
	w, err := walk(cfg)
	if err != nil {
		return nil, err
	}
	return w.fields, nil
}

// Describe lists the variables of cfg with defaults and meaning, for a --help text.
func Describe(cfg any) (string, error) {
	fields, err := Fields(cfg)
	if err != nil {
		return "", fmt.Errorf("describe configuration: %w", err)
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		value := f.Default
		if f.Required {
			value = "required"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", f.Variable, value, f.Doc)
	}
	if err := table.Flush(); err != nil {
		return "", fmt.Errorf("describe configuration: %w", err)
	}
	return out.String(), nil
}

// Unknown lists the variables of the environment, in the form of os.Environ, that have the prefix but are not in cfg: mistyped
// ones, or another program's.
func Unknown(cfg any, environment []string) []string {
	fields, err := Fields(cfg)
	if err != nil {
		return nil // Load returns the error.
	}
	var unknown []string
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		known := slices.ContainsFunc(fields, func(f Field) bool { return f.Variable == name })
		if strings.HasPrefix(name, Prefix) && !known {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
