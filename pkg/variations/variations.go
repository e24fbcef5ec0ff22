// Package variations compares what is chosen of the dimensions of gifts. A text that looks the same is the same choice: both sides
// are compared in Unicode normalization form C.
package variations

import (
	"slices"

	"golang.org/x/text/unicode/norm"
)

// NFC returns the values by dimension in form C.
func NFC(choice map[string]string) map[string]string {
	out := make(map[string]string, len(choice))
	for dimension, value := range choice {
		out[norm.NFC.String(dimension)] = norm.NFC.String(value)
	}
	return out
}

// Offered returns the value of a dimension, as it is written there, that chosen has, which is in form C.
func Offered(dimension string, values []string, chosen map[string]string) (value string, ok bool) {
	value, ok = chosen[norm.NFC.String(dimension)]
	at := slices.IndexFunc(values, func(offered string) bool { return norm.NFC.String(offered) == value })
	if !ok || at < 0 {
		return "", false
	}
	return values[at], true
}
