package postgres

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
)

// Columns maps columns to the members of a row R. Statements, their arguments and their scan targets are made from it, in its
// order, so that a new column is one line.
type Columns[R any] []ColumnOf[R]

// Use says which statements a column is part of: a bit set, whose bits each store defines.
type Use uint

// ColumnOf says how one column is written and read.
type ColumnOf[R any] struct {
	name                   string
	use                    Use
	argument, target       func(r *R) any
	argumentCast, readCast string
	// array is the type of the array that holds the arguments of several rows.
	array     string
	arguments func(rows []*R) any
}

func column[R, A any](name string, use Use, array string, argument func(r *R) A, target func(r *R) any) ColumnOf[R] {
	return ColumnOf[R]{
		name: name, use: use, argument: func(r *R) any { return argument(r) }, target: target,
		array: array, arguments: func(rows []*R) any { return Column(rows, argument) },
	}
}

// Field is a column that holds a member unchanged. The name of a column that is only read may be an expression.
func Field[R, T any](name string, use Use, at func(r *R) *T) ColumnOf[R] {
	array := "text[]"
	switch any(new(T)).(type) {
	case *int32:
		array = "integer[]"
	case *[]byte:
		array = "bytea[]"
	}
	return column(name, use, array, func(r *R) T { return *at(r) }, func(r *R) any { return at(r) })
}

// EnumField is a column that holds the API's name of a value, NULL for 0.
func EnumField[R any, E enumname.Enum](name string, use Use, at func(r *R) *E) ColumnOf[R] {
	argument := func(r *R) *string { return Nullable(enumname.String(*at(r))) }
	return column(name, use, "text[]", argument, func(r *R) any { return ScanEnum(at(r)) })
}

// TimeField is a column that holds a timestamp of a message, NULL for nil.
func TimeField[R any](name string, use Use, at func(r *R) **timestamppb.Timestamp) ColumnOf[R] {
	argument := func(r *R) *time.Time {
		if *at(r) == nil {
			return nil
		}
		return new((*at(r)).AsTime())
	}
	return column(name, use, "timestamptz[]", argument, func(r *R) any { return ScanTime(at(r)) })
}

// Cast adds casts, such as "::text", to the argument and to the column that is read.
func (c ColumnOf[R]) Cast(argument, read string) ColumnOf[R] {
	c.argumentCast, c.readCast = argument, read
	return c
}

// For returns the columns of a use.
func (c Columns[R]) For(use Use) Columns[R] {
	return slices.DeleteFunc(slices.Clone(c), func(column ColumnOf[R]) bool { return column.use&use == 0 })
}

// Select lists the columns for a SELECT or RETURNING.
func (c Columns[R]) Select() string {
	return strings.Join(Column(c, func(column ColumnOf[R]) string { return column.name + column.readCast }), ", ")
}

// Insert is the statement that adds a row to a table, with the arguments of method Args.
func (c Columns[R]) Insert(table string) string {
	var values []string
	for i, column := range c {
		values = append(values, fmt.Sprintf("$%d%s", i+1, column.argumentCast))
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(c.names(), ", "), strings.Join(values, ", "))
}

// InsertAll is the statement that adds rows to a table, with the arguments of method Arrays. The arrays hold texts, whole numbers
// of 32 bits, bytes and times; a column of another type needs a cast.
func (c Columns[R]) InsertAll(table string) string {
	var values, arrays []string
	for i, column := range c {
		values = append(values, "x."+column.name+column.argumentCast)
		arrays = append(arrays, fmt.Sprintf("$%d::%s", i+1, column.array))
	}
	names := strings.Join(c.names(), ", ")
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM unnest(%s) AS x (%s)",
		table, names, strings.Join(values, ", "), strings.Join(arrays, ", "), names)
}

// Arrays are the arguments of the rows, one array for each column.
func (c Columns[R]) Arrays(rows []*R) []any {
	return Column(c, func(column ColumnOf[R]) any { return column.arguments(rows) })
}

// Set assigns the arguments from $first on, for an UPDATE.
func (c Columns[R]) Set(first int) string {
	var set []string
	for i, column := range c {
		set = append(set, fmt.Sprintf("%s = $%d%s", column.name, first+i, column.argumentCast))
	}
	return strings.Join(set, ", ")
}

func (c Columns[R]) names() []string {
	return Column(c, func(column ColumnOf[R]) string { return column.name })
}

// Excluded assigns the values of the row that an INSERT could not add, for its ON CONFLICT DO UPDATE SET.
func (c Columns[R]) Excluded() string {
	var set []string
	for _, name := range c.names() {
		set = append(set, name+" = excluded."+name)
	}
	return strings.Join(set, ", ")
}

// Differ is the condition that a row of the table that an INSERT names differs from the one that it could not add.
func (c Columns[R]) Differ(table string) string {
	names := c.names()
	return fmt.Sprintf("(%s.%s) IS DISTINCT FROM (excluded.%s)",
		table, strings.Join(names, ", "+table+"."), strings.Join(names, ", excluded."))
}

// Values are the arguments of a row by the names of their columns.
func (c Columns[R]) Values(r *R) map[string]any {
	values := make(map[string]any, len(c))
	for _, column := range c {
		values[column.name] = column.argument(r)
	}
	return values
}

// Args returns the arguments of a row, after those that come before.
func (c Columns[R]) Args(r *R, before ...any) []any {
	args := slices.Grow(before, len(c))
	for _, column := range c {
		args = append(args, column.argument(r))
	}
	return args
}

// Targets returns the scan targets in a row, and then further ones.
func (c Columns[R]) Targets(r *R, more ...any) []any {
	targets := make([]any, 0, len(c)+len(more))
	for _, column := range c {
		targets = append(targets, column.target(r))
	}
	return append(targets, more...)
}
