// Package phone reads phone numbers that people have typed.
package phone

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

var (
	separators    = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "")
	international = regexp.MustCompile(`^\+[1-9][0-9]{3,19}$`)
	national      = regexp.MustCompile(`^[0-9]{3,19}$`)
)

// Parse reads an international number and returns it as E.164. Separators are dropped; the number must have a possible length
// for its country code.
func Parse(text string) (string, bool) {
	compact := separators.Replace(strings.TrimSpace(text))
	if !international.MatchString(compact) {
		return "", false
	}
	if isE164(compact) {
		return compact, true
	}
	return parse(compact, "")
}

// ParseIn is Parse that also reads a national number of the country, and an international number that begins with 00.
func ParseIn(text, country string) (string, bool) {
	compact := separators.Replace(strings.TrimSpace(text))
	if abroad, ok := strings.CutPrefix(compact, "00"); ok {
		compact = "+" + abroad
	}
	if !national.MatchString(compact) {
		return Parse(compact)
	}
	return parse(compact, country)
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
