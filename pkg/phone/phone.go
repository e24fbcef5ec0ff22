// Package phone reads phone numbers that people have typed or pasted.
package phone

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"
)

var (
	international = regexp.MustCompile(`^\+[1-9][0-9]{3,19}$`)
	national      = regexp.MustCompile(`^[0-9]{3,19}$`)
)

// Parse reads an international number and returns it as E.164. Separators are dropped and digits of every script are read; the
// number must have a possible length for its country code. One with 00 after its code is refused: it has another code there.
func Parse(text string) (string, bool) {
	compact := compacted(text)
	if !international.MatchString(compact) || strings.HasPrefix(compact, "+"+countryCode(compact[1:])+"00") {
		return "", false
	}
	return parse(compact, "")
}

// ParseIn is Parse that also reads what people type and paste: a national number of the country, an international number that
// begins with 00 or with the country's own prefix, one with tel: before it, and one whose country code is there twice.
func ParseIn(text, country string) (string, bool) {
	const scheme = "tel:"
	compact := compacted(text)
	if len(compact) > len(scheme) && strings.EqualFold(compact[:len(scheme)], scheme) {
		compact = compact[len(scheme):]
	}
	dialed := compact
	compact = withPlus(compact)
	if digits, ok := strings.CutPrefix(compact, "+"); ok {
		code := countryCode(digits)
		if again := withPlus(digits[len(code):]); code != "" && strings.HasPrefix(again, "+"+code) {
			compact = again
		}
	}
	if national.MatchString(compact) {
		return parse(compact, country)
	}
	number, ok := Parse(compact)
	if national.MatchString(dialed) && !IsLikely(number) { // The country's prefix may be longer than 00, such as 0011 in Australia.
		if own, read := parse(dialed, country); read && IsLikely(own) {
			return own, true
		}
	}
	return number, ok
}

// countryCode is the country code at the beginning of the digits of an international number; empty for none. No code is the
// beginning of another.
func countryCode(digits string) string {
	const longest = 3
	for n := 1; n <= min(longest, len(digits)); n++ {
		code, err := strconv.Atoi(digits[:n])
		if err == nil && phonenumbers.GetRegionCodeForCountryCode(code) != phonenumbers.UNKNOWN_REGION {
			return digits[:n]
		}
	}
	return ""
}

// withPlus writes 00 before a country code as +.
func withPlus(compact string) string {
	if abroad, ok := strings.CutPrefix(compact, "00"); ok {
		return "+" + abroad
	}
	return compact
}

// compacted drops separators.
func compacted(text string) string {
	return strings.Map(func(r rune) rune {
		if r = ASCII(r); strings.ContainsRune(" -./()", r) {
			return -1
		}
		return r
	}, text)
}

// ASCII is for strings.Map: it writes digits of every script, full-width characters, spaces and dashes as ASCII does, and drops
// direction marks and other characters that are not seen.
func ASCII(r rune) rune {
	const fullWidth, last, ascii = '\uFF01', '\uFF5E', '!'
	switch {
	case unicode.Is(unicode.Cf, r):
		return -1
	case unicode.Is(unicode.White_Space, r):
		return ' '
	case unicode.Is(unicode.Dash, r):
		return '-'
	case r >= fullWidth && r <= last:
		return r - fullWidth + ascii
	case unicode.IsDigit(r):
		return '0' + digit(r)
	}
	return r
}

// digit is the value of a decimal digit. Unicode has the ten digits of a script in a row.
func digit(r rune) (value rune) {
	for ; unicode.IsDigit(r - 1); r-- {
		value++
	}
	return value % 10
}

func parse(compact, country string) (string, bool) {
	number, err := phonenumbers.Parse(compact, country)
	if err != nil || phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE {
		return "", false
	}
	return phonenumbers.Format(number, phonenumbers.E164), true
}

// Spaced writes an E.164 number in groups, as its country does. Any other text is returned as it is.
func Spaced(e164 string) string {
	number, err := phonenumbers.Parse(e164, "")
	if err != nil {
		return e164
	}
	return phonenumbers.Format(number, phonenumbers.INTERNATIONAL)
}

// IsLikely reports whether an E.164 number looks like one that its country has given out, also by its length.
func IsLikely(e164 string) bool {
	number, err := phonenumbers.Parse(e164, "")
	return err == nil && phonenumbers.IsValidNumber(number)
}

// Example returns a number of a mobile phone in a country as people write it abroad, or nothing if none is known.
func Example(country string) string {
	number := phonenumbers.GetExampleNumberForType(country, phonenumbers.MOBILE)
	if number == nil {
		return ""
	}
	return phonenumbers.Format(number, phonenumbers.INTERNATIONAL)
}

// CallingCode returns the code of a country, such as +46, or nothing if it has none.
func CallingCode(country string) string {
	code := phonenumbers.GetCountryCodeForRegion(country)
	if code == 0 {
		return ""
	}
	return "+" + strconv.Itoa(code)
}

// WithoutCallingCode returns an international number without the calling code of a country, if ParseIn reads the same number from
// the rest. Any other text is returned as it is.
func WithoutCallingCode(text, country string) string {
	number, ok := ParseIn(text, country)
	within, coded := strings.CutPrefix(text, CallingCode(country))
	within = strings.TrimSpace(within)
	if again, same := ParseIn(within, country); !ok || !coded || !same || again != number {
		return text
	}
	return within
}
