package restjson

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// enum is the plan of an enum: its values but number 0, which stands for no value.
type enum struct {
	quoted   map[protoreflect.EnumNumber]string // `"NAME"`
	numbers  map[string]protoreflect.EnumNumber
	expected string // what a caller reads who sent something else
}

// enums caches the plans, as plans does those of messages.
var enums sync.Map // protoreflect.EnumDescriptor → *enum

func enumOf(desc protoreflect.EnumDescriptor) (*enum, error) {
	if p, ok := enums.Load(desc); ok {
		return p.(*enum), nil
	}
	if desc.FullName() == "google.protobuf.NullValue" {
		return nil, fmt.Errorf("%s is not supported", desc.FullName())
	}
	e := &enum{
		quoted:  map[protoreflect.EnumNumber]string{},
		numbers: map[string]protoreflect.EnumNumber{},
	}
	prefix := upperSnake(string(desc.Name())) + "_"
	var names []string
	for i := range desc.Values().Len() {
		v := desc.Values().Get(i)
		if v.Number() == 0 {
			continue
		}
		name := strings.TrimPrefix(string(v.Name()), prefix)
		e.numbers[name] = v.Number()
		names = append(names, name)
		if _, alias := e.quoted[v.Number()]; !alias {
			e.quoted[v.Number()] = `"` + name + `"`
		}
	}
	e.expected = "must be one of " + strings.Join(names, ", ")
	p, _ := enums.LoadOrStore(desc, e)
	return p.(*enum), nil
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
