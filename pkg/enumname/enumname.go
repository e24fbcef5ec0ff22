// Package enumname translates between the values of protobuf enums and their names in the API and in databases: the protobuf
// name without the name of the enum, so that ORDER_STATUS_SENT is SENT. Number 0 means that there is no value: its name is
// empty, and Parse never returns it as found.
package enumname

import (
	"strconv"
	"strings"
	"sync"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Enum is the type of a protobuf enum.
type Enum interface {
	~int32
	protoreflect.Enum
}

// String returns the name of a value. A number that the enum does not have is written as digits.
func String(e protoreflect.Enum) string {
	if name, ok := Of(e.Descriptor()).Name(e.Number()); ok || e.Number() == 0 {
		return name
	}
	return strconv.Itoa(int(e.Number()))
}

// Parse returns the value that has the name, and whether there is one.
func Parse[E Enum](text string) (E, bool) {
	var none E
	n, ok := Of(none.Descriptor()).Number(text)
	return E(n), ok
}

// Strings returns the names of values.
func Strings[E Enum](values []E) []string {
	names := make([]string, len(values))
	for i, e := range values {
		names[i] = String(e)
	}
	return names
}

// ParseAll returns the values that have the names. A text that is not a name becomes number 0.
func ParseAll[E Enum](texts []string) []E {
	values := make([]E, len(texts))
	for i, text := range texts {
		values[i], _ = Parse[E](text)
	}
	return values
}

// Names are the names of an enum's values without number 0.
type Names struct {
	ordered  []string
	byNumber map[protoreflect.EnumNumber]string
	byName   map[string]protoreflect.EnumNumber
}

// Name returns the name of a number. Of several names it is the first.
func (n *Names) Name(number protoreflect.EnumNumber) (string, bool) {
	name, ok := n.byNumber[number]
	return name, ok
}

// Number returns the number of a name.
func (n *Names) Number(name string) (protoreflect.EnumNumber, bool) {
	number, ok := n.byName[name]
	return number, ok
}

// All returns the names in the order of the enum.
func (n *Names) All() []string { return n.ordered }

// cache holds the names of every enum used so far: enums are few and never change.
var cache sync.Map // protoreflect.EnumDescriptor → *Names

// Of returns the names of an enum.
func Of(desc protoreflect.EnumDescriptor) *Names {
	if names, ok := cache.Load(desc); ok {
		return names.(*Names)
	}
	n := &Names{byNumber: map[protoreflect.EnumNumber]string{}, byName: map[string]protoreflect.EnumNumber{}}
	prefix := upperSnake(string(desc.Name())) + "_"
	for i := range desc.Values().Len() {
		v := desc.Values().Get(i)
		if v.Number() == 0 {
			continue
		}
		name := strings.TrimPrefix(string(v.Name()), prefix)
		n.ordered, n.byName[name] = append(n.ordered, name), v.Number()
		if _, alias := n.byNumber[v.Number()]; !alias {
			n.byNumber[v.Number()] = name
		}
	}
	names, _ := cache.LoadOrStore(desc, n)
	return names.(*Names)
}

// upperSnake turns OrderStatus into ORDER_STATUS and APIKeyState into API_KEY_STATE.
func upperSnake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) {
			afterWord := !unicode.IsUpper(runes[i-1]) && runes[i-1] != '_'
			beforeWord := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && runes[i-1] != '_'
			if afterWord || beforeWord {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}
