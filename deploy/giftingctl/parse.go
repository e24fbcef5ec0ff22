package giftingctl

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/enumname"
)

var (
	errChoice   = errors.New("is none of")
	errPair     = errors.New("is not name=value")
	errMember   = errors.New("is not a name of the list")
	errTime     = errors.New("is not a time such as 2026-01-31 or 2026-01-31T12:00:00Z")
	errDuration = errors.New("is too long")
	errSeveral  = errors.New("only one can be set of")
	errTwice    = errors.New("is there twice")
)

// parser turns texts of the command line into values of a request.
type parser struct{ in io.Reader }

// setField puts the values of a field into a request.
func (p parser) setField(req protoreflect.Message, f *field) error {
	for _, fd := range f.path[:len(f.path)-1] {
		if err := checkOneof(req, fd); err != nil {
			return err
		}
		req = req.Mutable(fd).Message()
	}
	fd := f.descriptor()
	if err := checkOneof(req, fd); err != nil {
		return err
	}
	switch {
	case fd.IsMap():
		return p.setMap(req.Mutable(fd).Map(), fd, f.values)
	case fd.IsList():
		return p.setList(req, fd, f.values)
	}
	value, err := p.value(fd, f.values[0], req.NewField(fd))
	if err == nil {
		req.Set(fd, value)
	}
	return err
}

// checkOneof refuses a field while another field of its oneof is set.
func checkOneof(m protoreflect.Message, fd protoreflect.FieldDescriptor) error {
	oneof := fd.ContainingOneof()
	if oneof == nil {
		return nil
	}
	if other := m.WhichOneof(oneof); other != nil && other != fd {
		return fmt.Errorf("%w %s and %s", errSeveral, word(string(other.Name())), word(string(fd.Name())))
	}
	return nil
}

func (p parser) setMap(into protoreflect.Map, fd protoreflect.FieldDescriptor, pairs []string) error {
	for _, pair := range pairs {
		name, text, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("%q %w", pair, errPair)
		}
		value, err := p.value(fd.MapValue(), text, protoreflect.Value{})
		if err != nil {
			return err
		}
		into.Set(protoreflect.ValueOfString(name).MapKey(), value)
	}
	return nil
}

// commaSeparated reports whether commas separate the entries of a list: words of the contract, ids and codes, which contain no
// comma. Any other list is free text, with an entry for each time that the flag is given.
func commaSeparated(fd protoreflect.FieldDescriptor) bool {
	name := string(fd.Name())
	return fd.Message() == nil && (fd.Kind() != protoreflect.StringKind || strings.HasSuffix(name, "_ids") ||
		slices.Contains([]string{"countries", "available_countries", "categories", "locales", "types"}, name))
}

// setList replaces a list.
func (p parser) setList(req protoreflect.Message, fd protoreflect.FieldDescriptor, texts []string) error {
	list := req.NewField(fd).List()
	for _, text := range texts {
		entries := []string{text}
		if commaSeparated(fd) {
			entries = strings.Split(text, ",")
		}
		for _, entry := range entries {
			element := protoreflect.Value{}
			if fd.Message() != nil {
				element = list.NewElement()
			}
			value, err := p.value(fd, entry, element)
			if err != nil {
				return err
			}
			list.Append(value)
		}
	}
	req.Set(fd, protoreflect.ValueOfList(list))
	return nil
}

// value reads a text. A message is read into empty.
func (p parser) value(fd protoreflect.FieldDescriptor, text string, empty protoreflect.Value) (protoreflect.Value, error) {
	switch fd.Kind() {
	case protoreflect.MessageKind:
		return p.message(fd.Message(), text, empty)
	case protoreflect.EnumKind:
		return enum(fd, text)
	case protoreflect.BoolKind:
		b, err := strconv.ParseBool(text)
		return protoreflect.ValueOfBool(b), err
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(text, 10, 32)
		return protoreflect.ValueOfInt32(int32(n)), err
	case protoreflect.Int64Kind:
		n, err := strconv.ParseInt(text, 10, 64)
		return protoreflect.ValueOfInt64(n), err
	case protoreflect.BytesKind:
		content, err := p.content(text)
		return protoreflect.ValueOfBytes(content), err
	default:
		return protoreflect.ValueOfString(text), nil
	}
}

func enum(fd protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	name := strings.ToUpper(strings.ReplaceAll(text, "-", "_"))
	number, ok := enumname.Of(fd.Enum()).Number(name)
	if !ok {
		return protoreflect.Value{}, fmt.Errorf("%q %w %s", text, errChoice, strings.Join(choices(fd), ", "))
	}
	return protoreflect.ValueOfEnum(number), nil
}

// content reads a file.
func (p parser) content(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(p.in)
	}
	return os.ReadFile(name) //nolint:gosec // The user names the file.
}

// text reads a file of text.
func (p parser) text(name string) ([]byte, error) {
	content, err := p.content(name)
	if err != nil {
		return nil, err
	}
	return terminal.Text(name, content)
}

// message reads a time, a duration, a JSON object or values of fields, such as product-id=…,budget.amount=150.
func (p parser) message(kind protoreflect.MessageDescriptor, text string, empty protoreflect.Value) (protoreflect.Value, error) {
	switch kind.FullName() {
	case timestampName:
		at, err := instant(text)
		return protoreflect.ValueOfMessage(timestamppb.New(at).ProtoReflect()), err
	case durationName:
		d, err := duration(text)
		return protoreflect.ValueOfMessage(durationpb.New(d).ProtoReflect()), err
	}
	if strings.HasPrefix(text, "{") {
		return empty, protojson.Unmarshal([]byte(text), empty.Message().Interface())
	}
	fields := fieldsOf(kind, "")
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			return empty, fmt.Errorf("%q %w", pair, errPair)
		}
		if err := addMember(fields, name, value); err != nil {
			return empty, err
		}
	}
	for _, f := range fields {
		if len(f.values) > 0 {
			if err := p.setField(empty.Message(), f); err != nil {
				return empty, err
			}
		}
	}
	return empty, nil
}

// addMember adds a value to a field by its name. The name of an entry of a map follows that of the map.
func addMember(fields []*field, name, value string) error {
	for _, f := range fields {
		entry, inMap := strings.CutPrefix(name, f.name+".")
		switch {
		case f.name == name && len(f.values) > 0 && !f.descriptor().IsList() && !f.descriptor().IsMap():
			return fmt.Errorf("%q %w", name, errTwice)
		case f.name == name:
			f.values = append(f.values, value)
			return nil
		case inMap && f.descriptor().IsMap():
			f.values = append(f.values, entry+"="+value)
			return nil
		}
	}
	return fmt.Errorf("%q %w", name, errMember)
}

func instant(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q %w", text, errTime)
}

const day = 24 * time.Hour

// duration reads a duration that may be in days.
func duration(text string) (time.Duration, error) {
	if number, ok := strings.CutSuffix(text, "d"); ok {
		const most = int64(math.MaxInt64 / day)
		days, err := strconv.ParseInt(number, 10, 64)
		if err == nil && (days > most || days < -most) {
			err = fmt.Errorf("%q %w", text, errDuration)
		}
		return time.Duration(days) * day, err
	}
	return time.ParseDuration(text)
}

// readFile fills a request from a file of JSON.
func (p parser) readFile(name string, req proto.Message) error {
	content, err := p.text(name)
	if err != nil {
		return err
	}
	if err := protojson.Unmarshal(content, req); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
