package fields

import (
	"slices"

	"golang.org/x/text/unicode/norm"
)

// NFCVariations returns the values by dimension in Unicode normalization form C, in which texts that look the same are the same
// choice.
func NFCVariations(choice map[string]string) map[string]string {
	out := make(map[string]string, len(choice))
	for dimension, value := range choice {
		out[norm.NFC.String(dimension)] = norm.NFC.String(value)
	}
	return out
}

// OfferedVariation returns the value of a dimension, as it is written there, that chosen has, which is in form C.
func OfferedVariation(dimension string, values []string, chosen map[string]string) (value string, ok bool) {
	value, ok = chosen[norm.NFC.String(dimension)]
	at := slices.IndexFunc(values, func(offered string) bool { return norm.NFC.String(offered) == value })
	if !ok || at < 0 {
		return "", false
	}
	return values[at], true
}
