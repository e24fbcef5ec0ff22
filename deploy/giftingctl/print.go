package giftingctl

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/enumname"
)

// print prints a response: a list as a table, a record as lines.
func (a *app) print(resp proto.Message, columns []string) error {
	if a.output == terminal.AsJSON {
		return a.printJSON(resp)
	}
	m := resp.ProtoReflect()
	if fd := m.Descriptor().Fields().ByName(warningsField); fd != nil {
		for i := range m.Get(fd).List().Len() {
			a.note("Warning: " + m.Get(fd).List().Get(i).String())
		}
	}
	if m.Descriptor().Fields().Len() == 0 {
		a.note("Done.")
		return nil
	}
	if list := onlyList(m.Descriptor()); list != nil {
		return a.printList(m.Get(list).List(), list, columns)
	}
	return a.printRows(nil, record(m))
}

// printJSON prints the JSON of the contract, with empty members.
func (a *app) printJSON(m proto.Message) error {
	raw, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return err
	}
	return terminal.Indented(a.Out, raw)
}

// onlyList is the list that a response consists of, beside the cursor of a page.
func onlyList(response protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	fields := response.Fields()
	first := fields.Get(0)
	if first.IsList() && first.Message() != nil && (fields.Len() == 1 || fields.Get(1).Kind() == protoreflect.StringKind) {
		return first
	}
	return nil
}

func (a *app) printList(list protoreflect.List, field protoreflect.FieldDescriptor, columns []string) error {
	if len(columns) == 0 {
		for _, f := range fieldsOf(field.Message(), "") {
			columns = append(columns, f.key)
		}
		if fd := field.Message().Fields().ByName(actorField); fd != nil {
			columns = append(columns, "actor.kind", "actor.id")
		}
	}
	rows := make([][]string, list.Len())
	for i := range list.Len() {
		for _, column := range columns {
			rows[i] = append(rows[i], fieldText(list.Get(i).Message(), strings.Split(column, ".")))
		}
	}
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = strings.NewReplacer("_", " ", ".", " ").Replace(column)
	}
	return a.printRows(names, rows)
}

// fieldText is the text of a field.
func fieldText(m protoreflect.Message, path []string) string {
	fd := m.Descriptor().Fields().ByName(protoreflect.Name(path[0]))
	switch {
	case len(path) > 1:
		return fieldText(m.Get(fd).Message(), path[1:])
	case !m.Has(fd) && (fd.Message() != nil || fd.HasPresence()):
		return ""
	case fd.IsList() && fd.Message() != nil:
		return fmt.Sprint(m.Get(fd).List().Len())
	}
	return text(fd, m.Get(fd))
}

// warningsField is the field of a response with warnings, which go to the standard error.
const warningsField = "warnings"

// record lists the fields of a message that are set, with those of messages inside it. A response that is one record, with warnings
// or without, has no name before its fields.
func record(m protoreflect.Message) [][]string {
	fields := m.Descriptor().Fields()
	single := fields.Len() == 1 || fields.Len() == 2 && fields.ByName(warningsField) != nil
	if only := fields.Get(0); single && !isText(only) {
		return record(m.Get(only).Message())
	}
	return appendRecord(nil, "", m)
}

func appendRecord(rows [][]string, prefix string, m protoreflect.Message) [][]string {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		name := prefix + strings.ReplaceAll(string(fd.Name()), "_", " ")
		switch {
		case fd.HasPresence() && !m.Has(fd):
		case fd.IsList() && fd.Message() != nil:
			for j := range m.Get(fd).List().Len() {
				rows = appendRecord(rows, fmt.Sprintf("%s %d, ", name, j+1), m.Get(fd).List().Get(j).Message())
			}
		case isText(fd):
			rows = append(rows, []string{name, text(fd, m.Get(fd))})
		default:
			rows = appendRecord(rows, name+" ", m.Get(fd).Message())
		}
	}
	return rows
}

// text is how a table shows a value.
func text(fd protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch {
	case fd.IsMap():
		var pairs []string
		value.Map().Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
			pairs = append(pairs, key.String()+"="+text(fd.MapValue(), v))
			return true
		})
		return strings.Join(pairs, ", ")
	case fd.IsList():
		var all []string
		for i := range value.List().Len() {
			all = append(all, scalar(fd, value.List().Get(i)))
		}
		return strings.Join(all, ", ")
	}
	return scalar(fd, value)
}

func scalar(fd protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch fd.Kind() { //nolint:exhaustive // The others have a text of their own.
	case protoreflect.EnumKind:
		name, known := enumname.Of(fd.Enum()).Name(value.Enum())
		if !known && value.Enum() != 0 {
			name = fmt.Sprint(value.Enum()) // Of a newer service.
		}
		return word(name)
	case protoreflect.BytesKind:
		if !utf8.Valid(value.Bytes()) {
			return fmt.Sprintf("%d bytes", len(value.Bytes()))
		}
		return string(value.Bytes())
	case protoreflect.MessageKind:
		switch known := value.Message().Interface().(type) {
		case *timestamppb.Timestamp:
			return known.AsTime().Format(time.RFC3339)
		case *durationpb.Duration:
			return known.AsDuration().String()
		}
	}
	return value.String()
}

// printRows prints rows in columns, below their names. As JSON it prints an object for each row, with the names as members. Rows
// without names are one object of name and value.
func (a *app) printRows(names []string, rows [][]string) error {
	if a.output == terminal.AsJSON {
		return terminal.JSON(a.Out, objects(names, rows))
	}
	return terminal.Table(a.Out, names, rows)
}

func objects(names []string, rows [][]string) any {
	record, list := map[string]string{}, make([]map[string]string, len(rows))
	for i, row := range rows {
		if names == nil {
			record[row[0]] = row[1]
			continue
		}
		list[i] = map[string]string{}
		for j, name := range names {
			list[i][name] = row[j]
		}
	}
	if names == nil {
		return record
	}
	return list
}

// reportDone reports the result of a command that calls no service: a line for each thing for people, one object as JSON.
func (a *app) reportDone(result any, lines ...string) error {
	for _, line := range lines {
		a.note(line)
	}
	if a.output != terminal.AsJSON {
		return nil
	}
	return terminal.JSON(a.Out, result)
}
